"""Changes of objects that several names hold, as changes of one variable."""
