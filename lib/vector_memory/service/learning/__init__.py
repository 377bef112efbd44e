"""What tasks teach: records that are counted, and the notes made of them."""
