"""Language models that write text, as options: nothing here is used unless a setting says so."""
