"""Items: values that applications keep under names of their own."""
