"""What a field does not see: the motions of the inputs that leave it alone."""
