"""What is made of derivatives: modules that stand alone, checks of files, pages, problems for optimisers."""
