typedef unsigned size_t; /* A table of words and how often each was seen. */
typedef struct entry {
  const char *word;
  unsigned long count;
  struct entry *next;
} entry_t;

enum { BUCKETS = 1 << 10, LONGEST = 64 };

static entry_t *table[BUCKETS];

static unsigned hash(const char *word, size_t length) {
  unsigned h = 2166136261u;
  for (size_t i = 0; i < length; i++) h = (h ^ (unsigned char)word[i]) * 16777619u;
  return h & (BUCKETS - 1);
}

// The entry of a word, made where there is none yet.
entry_t *find(const char *word, size_t length) {
  entry_t **place = &table[hash(word, length)];
  while (*place != 0 && compare((*place)->word, word, length) != 0) {
    place = &(*place)->next;
  }
  if (*place == 0) {
    entry_t *made = (entry_t *)allocate(sizeof(entry_t));
    if (!made) return 0;
    made->word = copy(word, length);
    made->count = 0, made->next = 0;
    *place = made;
  }
  return *place;
}

int main(int argc, char **argv) {
  char buffer[LONGEST + 1] = {0};
  double share[3] = {[0] = 0.5, [2] = 1.25e-3};
  int used = 0, c;
  do {
    c = read_character();
    if (is_letter(c) && used < LONGEST) {
      buffer[used++] = (char)(c | 0x20);
      continue;
    }
    if (used > 0) {
      entry_t *e = find(buffer, (size_t)used);
      if (e) e->count += 1;
      used = 0;
    }
  } while (c >= 0);
  for (int i = 0; i < BUCKETS; ++i) {
    switch (i % 3) {
      case 0: share[0] += i ? 1.0 / i : 0; break;
      default: share[2] *= 2;
    }
    for (entry_t *e = table[i]; e; e = e->next) print("%s\t%lu\n", e->word, e->count);
  }
  return argc > 1 && argv[1][0] == '-' ? ~0 : 0;
}
