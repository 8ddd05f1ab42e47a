/**
 * Names of tables and columns as SQL texts: bare if both dialects read them so, else in double
 * quotes.
 *
 * PostgreSQL folds bare names to lower case, SQLite ignores case in all names. Quoting too often is
 * harmless and quoting too seldom is not, so the key words of both dialects are quoted.
 */

/** The supported dialects of SQL. */
export type SqlDialect = "sqlite" | "postgresql"

/** SQLite's key words, and those that PostgreSQL reserves in some place. */
const keywords = new Set(
  (
    "abort action add after all alter always analyse analyze and any array as asc asymmetric attach authorization autoincrement " +
    "before begin between bigint binary bit boolean both by cascade case cast char character check coalesce collate collation " +
    "column commit concurrently conflict constraint create cross current current_catalog current_date current_role " +
    "current_schema current_time current_timestamp current_user database dec decimal default deferrable deferred delete desc " +
    "detach distinct do drop each else end escape except exclude exclusive exists explain extract fail false fetch filter first " +
    "float following for foreign freeze from full generated glob grant greatest group grouping groups having if ignore ilike " +
    "immediate in index indexed initially inner inout insert instead int integer intersect interval into is isnull join " +
    "json json_array json_arrayagg json_exists json_object json_objectagg json_query json_scalar json_serialize json_table " +
    "json_value key last lateral leading least left like limit localtime localtimestamp match materialized merge_action " +
    "national natural nchar no none normalize not nothing notnull null nullif nulls numeric of offset on only or order others " +
    "out outer over overlaps overlay partition placing plan position pragma preceding precision primary query raise range real " +
    "recursive references regexp reindex release rename replace restrict returning right rollback row rows savepoint select " +
    "session_user set setof similar smallint some substring symmetric system_user table tablesample temp temporary then ties " +
    "time timestamp to trailing transaction treat trigger trim true unbounded union unique update user using vacuum values " +
    "varchar variadic verbose view virtual when where window with within without xmlattributes xmlconcat xmlelement xmlexists " +
    "xmlforest xmlnamespaces xmlparse xmlpi xmlroot xmlserialize xmltable"
  ).split(" "),
)

/** Returns `name` as it is written in SQL. */
export function writtenName(name: string, dialect: SqlDialect): string {
  const plain = dialect === "postgresql" ? /^[a-z_][a-z0-9_]*$/ : /^[A-Za-z_][A-Za-z0-9_]*$/
  const isBare = plain.test(name) && !keywords.has(name.toLowerCase())
  return isBare ? name : `"${name.replaceAll('"', '""')}"`
}

/** Returns the form in which names are compared. */
export function foldedName(name: string, dialect: SqlDialect): string {
  return dialect === "postgresql" ? name : name.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase())
}

/** Returns whether `word`, in lower case, is a key word. */
export function isKeyword(word: string): boolean {
  return keywords.has(word)
}

/** Returns all key words, in lower case. */
export function keywordList(): readonly string[] {
  return [...keywords]
}
