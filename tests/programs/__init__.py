"""The programs of the corpus, a family a file. They are written as users write: that is what they are for."""
