package tables

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"hongbao/chat"
	"hongbao/store/chain"
	"hongbao/store/eventlog"
	"hongbao/store/secret"
)

// Row is a row of a result.
type Row interface{ Scan(into ...any) error }

// Querier runs queries. Outside a transaction each statement sees the data committed so far; inside a snapshot all statements see
// the same data.
type Querier interface {
	Dialect
	// Row scans the first row of a query. It returns found = false, and no error, if there is no row.
	Row(query string, args []any, into ...any) (found bool, err error)
	// Each calls scan with each row of a query. It stops at the first error of scan and returns it.
	Each(scan func(Row) error, query string, args ...any) error
	// Keys returns the data keys, or nil if the store has none.
	Keys() *secret.Keys
}

// Tx is a transaction. It sees its own changes.
type Tx interface {
	Querier
	Exec(query string, args ...any) (affected int64, err error)
	// Again reports whether an earlier run of the transaction may have been committed. It is always false in SQLite.
	Again() bool
	// Send runs the statements of the batch in their order: in Postgres in one round trip.
	Send(b *Batch) error
	// Chained adds the leaves of rows that the transaction inserts to its link of a hash chain, and returns the id of the link.
	Chained(leaves ...chain.Hash) (link int64, err error)
	// Erase removes the content of a text: its body, the bodies of its edits, and its reactions. The seals of the erased bodies become
	// the hashes that stand for them.
	Erase(room string, seq int64) error
	// Wiped says that the transaction removes texts or names, which must not stay in files of the database longer than necessary.
	Wiped()
	// DeleteEvents deletes the oldest rows of the event stream with ids up to through: not more than limit rows of a chain.
	DeleteEvents(through, limit int64) (deleted int64, err error)
	// Events returns the collection of the events that the transaction adds to the stream.
	Events() *eventlog.Refs
}

// Batch collects statements for Tx.Send. The zero value is empty.
type Batch struct{ Statements []Statement }

// Statement is a statement with its arguments. If Scan is set, it is called with each row of the result.
type Statement struct {
	Text string
	Args []any
	Scan func(Row) error
}

// Exec adds a statement whose result is not read.
func (b *Batch) Exec(text string, args ...any) { b.Each(nil, text, args...) }

// Each adds a statement. Send calls scan with each row of its result.
func (b *Batch) Each(scan func(Row) error, text string, args ...any) {
	b.Statements = append(b.Statements, Statement{Text: text, Args: args, Scan: scan})
}

// DB is one of the two databases. A function that is passed to one of its methods may be called more than once. So each call of the
// function must set its results anew.
type DB interface {
	// Read calls fn with a Querier outside a transaction.
	Read(ctx context.Context, fn func(Querier) error) error
	// Snapshot calls fn with a Querier inside a snapshot.
	Snapshot(ctx context.Context, fn func(Querier) error) error
	// ReadBatch runs the statements that fill adds to the batch, each with a Scan, inside a snapshot: in Postgres in one round trip.
	ReadBatch(ctx context.Context, fill func(q Querier, b *Batch)) error
	// Stream does the same as Snapshot, for reading the event stream.
	Stream(ctx context.Context, fn func(StreamReader) error) error
	// Write calls fn with a transaction and then commits it. If fn fails, Write rolls back and returns the error of fn. In pgstore,
	// Write instead calls fn again after some errors: ErrRetry, a conflict or a lost connection.
	Write(ctx context.Context, fn func(Tx) error) error
	// Lateral reports whether a subquery may be lateral: Postgres on one node.
	Lateral() bool
	Dialect
}

// Dialect writes the parts of statements that differ between the databases. n is the number of an argument.
type Dialect interface {
	// In is the end of a condition: the expression before it is one of the texts of argument n, which is from List.
	In(n int) string
	// List returns texts as one argument.
	List(texts []string) any
	// Values is a table with a column value: the texts of argument n, which is from List.
	Values(n int) string
	// InOrder is Values with a second column, n, which numbers the texts in the order of the list.
	InOrder(n int) string
	// Records is a table with the alias and these columns, each a name with its type in Postgres: the JSON list of objects in argument n.
	Records(n int, alias, columns string) string
	// Lock is the end of a query: it locks the rows until the transaction ends. LockFree does the same, but leaves out
	// rows that other transactions have locked. Both are empty in SQLite, which has one writer.
	Lock() string
	LockFree() string
	// Is is a condition that is true if the boolean column has the value. It is written as in the conditions of indexes.
	Is(column string, value bool) string
	// JSON is a column with a list, as JSON.
	JSON(column string) string
	// Array returns the destination that scans a column with a list into the slice that into points to. The value null leaves the slice as it is.
	Array(into any) any
	// ArrayOf returns a list, which must not be nil, as the argument for a column that Array scans.
	ArrayOf(list any) any
	// Storable reports whether a text, which may be untrusted input, can occur in the database.
	Storable(text string) bool
	// Like is a condition that is true if the column matches the LIKE pattern in argument n. Case does not matter for
	// ASCII letters. In the pattern, \ escapes a wildcard.
	Like(column string, n int) string
	// Clock is the database's clock in Unix milliseconds. The clocks of instances may differ by more than a lease lasts.
	Clock() string
	// Bytes is a column of text, to be ordered by its bytes.
	Bytes(column string) string
}

// ErrRetry means that the transaction cannot go on with what it has read, in most cases because another commit has
// changed that. Package pgstore then rolls it back and runs it again, so that it reads the new state. If that does not
// help within a limited time, the caller gets chat.ErrUnavailable. ErrRetry does not occur in SQLite, which has only
// one writer.
var ErrRetry = errors.New("conflict with another transaction")

// Tables has the methods that both stores share. Each file of the package has those of one subject.
type Tables struct{ db DB }

// New returns the Tables of a database.
func New(db DB) Tables { return Tables{db} }

// into returns a function that scans a row into a T. fields returns the destinations of the columns.
func into[T any](fields func(*T) []any) func(Row) (T, error) {
	return func(row Row) (found T, err error) {
		err = row.Scan(fields(&found)...)
		return found, err
	}
}

// List returns one T for each row of a query.
func List[T any](q Querier, scan func(Row) (T, error), query string, args ...any) (all []T, err error) {
	err = q.Each(func(row Row) error {
		one, err := scan(row)
		all = append(all, one)
		return err
	}, query, args...)
	if err != nil {
		return nil, err
	}
	return all, nil
}

// one returns the first row of a query, or chat.ErrNotFound if there is none.
func one[T any](q Querier, scan func(Row) (T, error), query string, args ...any) (found T, err error) {
	all, err := List(q, scan, query, args...)
	if err == nil && len(all) == 0 {
		err = chat.ErrNotFound
	}
	if err != nil {
		return found, err
	}
	return all[0], nil
}

// read returns what fn reads outside a transaction.
func read[T any](ctx context.Context, db DB, doing string, fn func(Querier) (T, error)) (found T, err error) {
	err = db.Read(ctx, func(q Querier) error {
		found, err = fn(q)
		return err
	})
	return found, Outcome(doing, err)
}

// list is List outside a transaction.
func list[T any](ctx context.Context, db DB, doing string, scan func(Row) (T, error), query string, args ...any) ([]T, error) {
	return read(ctx, db, doing, func(q Querier) ([]T, error) { return List(q, scan, query, args...) })
}

// pageOf returns the first limit of the rows. If there are more rows, it also returns the cursor of the next page, which after makes from the last
// row of this page. Otherwise the cursor is "".
func pageOf[T any](rows []T, limit int, after func(last T) string) (page []T, next string) {
	if len(rows) <= limit {
		return rows, ""
	}
	return rows[:limit], after(rows[limit-1])
}

// write returns what fn makes in a transaction, or the zero value after an error. The transaction may run again. before is the result of the
// last run that may have been committed. In the first run it is the zero value.
func write[T any](ctx context.Context, db DB, doing string, fn func(w Tx, before T) (T, error)) (T, error) {
	var before, none T
	err := db.Write(ctx, func(w Tx) error {
		made, err := fn(w, before)
		if err == nil {
			before = made
		}
		return err
	})
	if err != nil {
		return none, Outcome(doing, err)
	}
	return before, nil
}

// exec runs one statement in a transaction.
func exec(ctx context.Context, db DB, doing, query string, args ...any) error {
	return Outcome(doing, db.Write(ctx, func(w Tx) error {
		_, err := w.Exec(query, args...)
		return err
	}))
}

// ScanText scans a single column of text.
var ScanText = into(func(text *string) []any { return []any{text} })

// Millis converts Unix milliseconds, as they are stored, to a time in UTC.
func Millis(ms int64) time.Time { return time.UnixMilli(ms).UTC() }

// Time returns a destination that scans a column of Unix milliseconds.
func Time(into *time.Time) any { return storedTime{into: into} }

// timeOrZero returns a destination that scans a column of Unix milliseconds in which 0 stands for the zero time.
func timeOrZero(into *time.Time) any { return storedTime{into, true} }

type storedTime struct {
	into   *time.Time
	orZero bool
}

// Scan implements sql.Scanner.
func (t storedTime) Scan(v any) error {
	ms, ok := v.(int64)
	if !ok {
		return fmt.Errorf("a time is stored as %T", v)
	}
	if *t.into = Millis(ms); t.orZero && ms == 0 {
		*t.into = time.Time{}
	}
	return nil
}

// JSON returns a list as JSON.
func JSON[T any](list []T) string {
	text, err := json.Marshal(list)
	if err != nil || list == nil {
		return "[]"
	}
	return string(text)
}

// Outcome maps an error to one that callers of a store may see. An error that is or wraps a chat.RequestError passes
// unchanged, for example a chat.FieldError. Every other error is wrapped in chat.ErrUnavailable. nil stays nil.
func Outcome(doing string, err error) error {
	if err == nil || chat.IsRequestError(err) {
		return err
	}
	return Unavailable(doing, err)
}

// Unavailable returns an error that wraps both chat.ErrUnavailable, which callers test for, and err. Its text has the
// cause, for logs.
func Unavailable(doing string, err error) error {
	return fmt.Errorf("%s: %w: %w", doing, chat.ErrUnavailable, err)
}
