"""How numbers are written in a language where Django's own way is not ours."""
