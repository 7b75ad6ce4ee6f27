"""Tables in, rows in the unit ball out; every bound comes from the user, none from private rows."""
