"""What a new user brings: networks that no example has, each trained anew for every seed."""
