"""What a text is to state and what is asked of it."""

from facts import CONCEPTS, FAMILIES, LINKS, group_of


class Field:
    """One member of an answer: a fact of the plan (`key`), a list of like things (`rows`: line and labels), or an object (`inner`)."""

    def __init__(self, name, schema, key=None, as_text=False, can_miss=False, rows=None, inner=None):
        self.name, self.schema, self.key, self.as_text = name, schema, key, as_text
        self.can_miss, self.rows, self.inner = can_miss, rows, inner


class Plan:
    """Which facts a text states and which of them are asked for, under which names."""

    def __init__(self, domain, is_made_up, is_easy):
        self.domain, self.is_made_up, self.is_easy = domain, is_made_up, is_easy
        self.concepts, self.names, self.fields, self.stated, self.rows = {}, {}, [], set(), []
        self.tool = self.words = None
        self.facts = {}  # (concept, surface, literal) by key, of the text that was drawn last
        self.is_told = False  # whether a sentence of the domain is in the text

    def clashes(self, key):
        return any(key in family and family.intersection(self.concepts) - {key} for family in FAMILIES)

    def add(self, key, concept, name):
        """Unless the texts or the names could not be told apart."""
        if key in self.concepts or self.clashes(key):
            return
        words = set(name.split(" ")) - LINKS
        if any(not words or not (theirs := set(n.split(" ")) - LINKS) or words <= theirs or theirs <= words for n in self.names.values()):
            return
        if self.is_made_up and any(words & set(n.split(" ")) for n in self.names.values()):
            return
        self.concepts[key], self.names[key] = concept, name

    def row_groups(self):
        return [group_of(CONCEPTS[key]) for key in self.rows]

    def all_fields(self):
        for field in self.fields:
            yield from field.inner or [field]
