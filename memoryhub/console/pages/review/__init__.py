"""The inbox: proposals that wait for a person, alone or in a batch."""
