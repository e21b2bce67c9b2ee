"""What people and callers change by hand: correct, retract, end, restore, forget, pin, describe, merge."""
