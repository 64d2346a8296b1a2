"""Mutation testing of the private path: ``python -m checks.mutants`` changes the code, and says which tests notice.

A mutant is the package with one small change: ``<`` where ``<=`` was, a term left out, a check dropped. A mutant that
every test passes has *survived*: either no test would notice this mistake, or it is none. What may survive is listed
in ``accepted``, each with its reason.

| module | what it knows |
|---|---|
| ``variations`` | what may stand in the place of a piece of code |
| ``mutant`` | all mutants of a module, and how each is called |
| ``scopes`` | which modules are changed, and which tests are asked about them |
| ``forks`` | processes that end with a verdict, and how long they may take |
| ``asking`` | tests that are collected once, and run in a process of its own for each mutant |
| ``reach`` | which test executes which line, kept from one run to the next |
| ``install`` | how a mutant takes the place of the code, without a file being written |
| ``trials`` | a verdict for every mutant |
| ``accepted`` | survivors that may be, and why |
| ``report`` | the page that says so |

Nothing is written into the tree: libraries and tests are loaded once, and every mutant is a fork of that process in
which functions are given other code. What is outside of functions (constants, defaults) takes effect while a module is
imported, so such mutants are forked before dawa and its tests are.
"""
