"""The native API, version 1: a folder for each kind of thing, with its routes in `urls`."""
