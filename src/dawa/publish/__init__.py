"""What is published: a folder with the release, tables, a picture, a README, and a page to explore it on."""
