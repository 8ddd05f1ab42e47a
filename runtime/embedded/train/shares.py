"""How often each sort of example is drawn."""

from typing import NamedTuple


class Shares(NamedTuple):
    stories: float = 0.5  # of all groups: whole texts
    # Of the groups of whole texts; the rest asks bare questions.
    calls: float = 0.22
    readings: float = 0.28
    answers: float = 0.08
    sentences: float = 0.0  # of the groups of whole texts: single sentences that tell a label
    # Of the groups of texts put together.
    tools: float = 0.2
    drills: float = 0.4  # of the lists of tools
    labels: float = 0.16
    shown: float = 0.4  # of those that ask for fields: with the schema in the prompt
    apart: float = 0.0  # of the drills in labels: with a question that belongs to no domain (labels.txt)
    added: float = 0.0  # of the plans and whole texts: with a sentence that answers such a question
    sober: float = 0.0  # of the whole texts: from the plain ones alone
    newest: float = 0.0  # of those: from the last file alone
    more: int = 0  # questions more to each whole text
    rosters: float = 0.0  # of all groups: whole texts with lists


TESTED = Shares()
# What asks without a schema costs the fewest tokens and has the most to teach: with TESTED half of all tokens were schemas and
# tools and had a fifth of the loss.
TRAINED = Shares(stories=0.62, calls=0.18, readings=0.26, answers=0.1, tools=0.18, shown=0.35, more=2, rosters=0.11, sentences=0.2,
                 labels=0.3, apart=0.7, added=0.25, sober=0.3, newest=0.4)
