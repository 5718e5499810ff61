"""Search: engines that look for the expressions whose gradients point the field's way."""
