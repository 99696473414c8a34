/** The names of SQLite's result codes, as better-sqlite3 and libsql put them into `code` of an error. */

// Source: https://sqlite.org/rescode.html. An extended code is the primary one plus 256 times the place of its name in the list.
const codes: Readonly<Record<number, readonly [primary: string, ...extended: ReadonlyArray<string>]>> = {
  1: ["ERROR", "MISSING_COLLSEQ", "RETRY", "SNAPSHOT"],
  2: ["INTERNAL"],
  3: ["PERM"],
  4: ["ABORT", "", "ROLLBACK"],
  5: ["BUSY", "RECOVERY", "SNAPSHOT", "TIMEOUT"],
  6: ["LOCKED", "SHAREDCACHE", "VTAB"],
  7: ["NOMEM"],
  8: ["READONLY", "RECOVERY", "CANTLOCK", "ROLLBACK", "DBMOVED", "CANTINIT", "DIRECTORY"],
  9: ["INTERRUPT"],
  10: [
    "IOERR",
    "READ",
    "SHORT_READ",
    "WRITE",
    "FSYNC",
    "DIR_FSYNC",
    "TRUNCATE",
    "FSTAT",
    "UNLOCK",
    "RDLOCK",
    "DELETE",
    "BLOCKED",
    "NOMEM",
    "ACCESS",
    "CHECKRESERVEDLOCK",
    "LOCK",
    "CLOSE",
    "DIR_CLOSE",
    "SHMOPEN",
    "SHMSIZE",
    "SHMLOCK",
    "SHMMAP",
    "SEEK",
    "DELETE_NOENT",
    "MMAP",
    "GETTEMPPATH",
    "CONVPATH",
    "VNODE",
    "AUTH",
    "BEGIN_ATOMIC",
    "COMMIT_ATOMIC",
    "ROLLBACK_ATOMIC",
    "DATA",
    "CORRUPTFS",
    "IN_PAGE"
  ],
  11: ["CORRUPT", "VTAB", "SEQUENCE", "INDEX"],
  12: ["NOTFOUND"],
  13: ["FULL"],
  14: ["CANTOPEN", "NOTEMPDIR", "ISDIR", "FULLPATH", "CONVPATH", "DIRTYWAL", "SYMLINK"],
  15: ["PROTOCOL"],
  16: ["EMPTY"],
  17: ["SCHEMA"],
  18: ["TOOBIG"],
  19: [
    "CONSTRAINT",
    "CHECK",
    "COMMITHOOK",
    "FOREIGNKEY",
    "FUNCTION",
    "NOTNULL",
    "PRIMARYKEY",
    "TRIGGER",
    "UNIQUE",
    "VTAB",
    "ROWID",
    "PINNED",
    "DATATYPE"
  ],
  20: ["MISMATCH"],
  21: ["MISUSE"],
  22: ["NOLFS"],
  23: ["AUTH", "USER"],
  25: ["RANGE"],
  26: ["NOTADB"]
}

/** The name of a result code, such as `SQLITE_CONSTRAINT_UNIQUE`. The primary name if the extended code is unknown. */
export const nameOf = (code: number): string => {
  const [primary, ...extended] = codes[code & 0xff] ?? [`${code & 0xff}`]
  const name = extended[(code >> 8) - 1]
  return ["SQLITE", primary, ...(name === undefined || name === "" ? [] : [name])].join("_")
}
