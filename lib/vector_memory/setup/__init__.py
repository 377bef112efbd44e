"""What `bootstrap.sh` does: the runtime, the model, the installed code, and a proof that it works.

Standard library only, for any Python from 3.10, since it runs before anything is installed.
"""
