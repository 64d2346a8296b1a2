"""What turns ``docs/`` into a site beside what MkDocs does: links, reference pages and notebooks (``make site``)."""
