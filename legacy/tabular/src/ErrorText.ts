/**
 * Recognises the message of a program that failed while it wrote rows, such as a warning of PHP or of a database. Such a text ends the row
 * before it, wherever that was: its number may be cut.
 */

const message = [
  // `PHP Warning:  Undefined index`, `ERROR 2013 (HY000): Lost connection`, `java.lang.OutOfMemoryError: Java heap space`
  /(?<![\w-])(?:[\w.\\]*(?:error|exception)|warning|notice|deprecated|fatal|panic)(?:\s+[\w.\\'"-]+){0,5}\s*[:\](]/i,
  /(?:gone\s+away|lost connection|connection (?:was )?(?:lost|reset|refused|closed|aborted|timed out|terminated)|transfer closed)/i,
  /(?:out of memory|memory exhausted|memory size of|heap space|cannot allocate|no space left|disk full|broken pipe)/i,
  /(?:segmentation fault|core dumped|bus error|stack trace|traceback \(|sqlstate|\bora-\d{4}|command not found)/i,
  /(?:(?:permission|access) denied|timed out|timeout expired|\bon line \d+|lock wait timeout|deadlock found|stack overflow)/i,
  // A fragment of HTML, and a line of a stack trace.
  /^\s*<[/!?]?[a-z]/i,
  /^\s*at\s+\S.*[:(]/,
  // The whole line, or the end of a number.
  /^\W*(?:killed|terminated|aborted?|cancell?ed|interrupted|hangup|quit)\W*(?:\d+\W*)?$/i,
  /\d(?:killed|terminated|aborted|segmentation|php |mysql|psql|sql|error|warning|notice|fatal|traceback|exception|panic|<[/!?]?[a-z])/i
]

// Enough of a message, and of a stack trace in one field.
const maxLength = 2_000

/** Whether the text of a row that can't be used is such a message. */
export const isErrorText = (text: string): boolean => {
  const beginning = text.slice(0, maxLength)
  return message.some((pattern) => pattern.test(beginning))
}
