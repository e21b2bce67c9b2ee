"""What the deciders of Chinese are learned from: marks in dialogues, and sentences made for it."""
