"""What a primitive is: the record that a rule declares, and its template."""
