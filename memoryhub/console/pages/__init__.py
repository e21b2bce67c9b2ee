"""The pages, a folder each: views, queries, forms and templates of one feature together."""
