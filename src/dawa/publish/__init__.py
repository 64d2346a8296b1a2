"""What is published: a folder with the release, tables, a picture and a README, and a page to explore the release."""
