package fill

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"hongbao/migrations"
	"hongbao/store"
	"hongbao/store/pgstore"
	"hongbao/store/sqlitestore"
)

// Size says how much is made.
type Size struct {
	Users   int
	Rooms   int
	Entries int // texts and the entries of packets
	Packets int // that have ended
	Claims  int

	Wins    int // claims of the user Winner
	Joined  int // rooms of the user Joiner
	Members int // members of the room Crowd
	Entered int // participants of Draw, which is one packet and one entry more
}

// Full is the size at which the growth of each command is measured.
var Full = Size{
	Users: 200_000, Rooms: 1_000_000, Entries: 20_000_000, Packets: 1_000_000, Claims: 5_000_000,
	Wins: 50_000, Joined: 2000, Members: 100_000, Entered: 2_000_000,
}

// Times returns a part of the size, or several times it.
func (s Size) Times(scale float64) Size {
	for _, n := range []*int{&s.Users, &s.Rooms, &s.Entries, &s.Packets, &s.Claims, &s.Wins, &s.Joined, &s.Members, &s.Entered} {
		*n = max(1, int(float64(*n)*scale))
	}
	s.Users = max(s.Users, leastUsers)
	s.Members = min(s.Members, s.Users)
	return s
}

// leastUsers is the least number of users: the members of a room must be different ones.
const leastUsers = 1000

// check returns an error if the size contradicts itself.
func (s Size) check() error {
	switch {
	case s.Users < leastUsers:
		return fmt.Errorf("%d users are too few: at least %d", s.Users, leastUsers)
	case s.Members < mostMembers || s.Members > s.Users:
		return fmt.Errorf("%d members of one room: want %d to %d, the number of users", s.Members, mostMembers, s.Users)
	case s.Joined >= s.Rooms:
		return fmt.Errorf("%d rooms of one user, and only %d rooms", s.Joined, s.Rooms)
	case s.Wins > s.Packets || s.Packets > s.Claims || 2*s.Packets > s.Entries:
		return errors.New("want at least one claim and two entries for each packet, and one packet for each win")
	}
	return nil
}

// Database makes the schema of an empty database and fills it: the database of Postgres with this URL, or, without one, a new embedded one in
// the data folder. It calls told from time to time. A database that has rows is not touched.
func Database(ctx context.Context, url, folder string, size Size, told func(Progress)) (err error) {
	if err := checkEmpty(ctx, url, folder); err != nil {
		return err
	}
	books, err := store.MakeBooks(ctx, store.Config{DatabaseURL: url, DataDir: folder}, migrations.Auto, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	if err := books.Close(); err != nil {
		return err
	}
	if url == "" {
		s, err := openSQLite(folder)
		if err != nil {
			return err
		}
		return errors.Join(run(ctx, s, size, told), s.db.Close())
	}
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	return errors.Join(run(ctx, postgres{conn}, size, told), conn.Close(context.WithoutCancel(ctx)))
}

func checkEmpty(ctx context.Context, url, folder string) error {
	if url != "" {
		return pgstore.CheckEmpty(ctx, url)
	}
	file := filepath.Join(folder, sqlitestore.FileName)
	if _, err := os.Stat(file); !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(err, fmt.Errorf("%s: want a folder without a database", file))
	}
	return nil
}

// sink writes rows into a database that has a schema and no rows.
type sink interface {
	// begin begins a transaction, and commit commits it.
	begin(ctx context.Context) error
	commit(ctx context.Context) error
	// chain adds a hash chain, and returns its number.
	chain(ctx context.Context, at int64) (number int64, err error)
	// insert writes rows of a table. A value is a string, an int64, a bool, a []byte, a []int64, a []string or nil.
	insert(ctx context.Context, table string, columns []string, rows [][]any) error
	// exec runs a statement that both engines understand.
	exec(ctx context.Context, statement string) error
	// finish makes the engine read statistics of the tables.
	finish(ctx context.Context) error
}

// Progress is how far a fill is.
type Progress struct {
	Rows, Entries int // rows of all tables; entries among them
	Of            int // entries in all
	Took          time.Duration
}

// run fills the database of the sink.
func run(ctx context.Context, to sink, size Size, told func(Progress)) error {
	if err := size.check(); err != nil {
		return err
	}
	w := newWorld(size)
	f := filler{ctx: ctx, to: to, world: w, told: told, began: time.Now()}
	if err := to.begin(ctx); err != nil {
		return err
	}
	var err error
	if w.chain, err = to.chain(ctx, w.clock); err != nil {
		return err
	}
	w.endLink()
	for _, part := range []func() error{f.users, f.events, f.draw, f.rooms, f.books} {
		if err := part(); err != nil {
			return err
		}
	}
	if err := to.commit(ctx); err != nil {
		return err
	}
	return to.finish(ctx)
}

// filler is one run of a fill.
type filler struct {
	ctx   context.Context
	to    sink
	world *world
	told  func(Progress)
	began time.Time
	rows  int // written
}

// step is how many rows are collected before they are written.
const step = 100_000

// each calls add with 0 to n-1, and writes what it has added now and then.
func (f *filler) each(n int, add func(i int)) error {
	for i := range n {
		add(i)
		if f.world.collected >= step {
			if err := f.write(); err != nil {
				return err
			}
		}
	}
	return f.write()
}

func (f *filler) write() error {
	f.world.endLink()
	for _, t := range f.world.tables {
		if len(t.rows) == 0 {
			continue
		}
		if err := f.to.insert(f.ctx, t.name, t.columns, t.rows); err != nil {
			return fmt.Errorf("fill %s: %w", t.name, err)
		}
		f.rows += len(t.rows)
		t.rows = slices.Delete(t.rows, 0, len(t.rows))
	}
	f.world.collected = 0
	if err := f.to.commit(f.ctx); err != nil {
		return err
	}
	f.told(Progress{Rows: f.rows, Entries: f.world.entries, Of: f.world.size.Entries, Took: time.Since(f.began)})
	return f.to.begin(f.ctx)
}

func (f *filler) users() error { return f.each(f.world.size.Users, f.world.addUser) }
func (f *filler) events() error {
	return f.each(f.world.size.Entries-f.world.size.Packets, f.world.addEvent)
}
func (f *filler) draw() error {
	f.world.addDraw()
	return f.each(f.world.size.Entered, f.world.addParticipant)
}
func (f *filler) rooms() error { return f.each(f.world.size.Rooms, f.world.addRoom) }

func (f *filler) books() error {
	if err := f.each(f.world.size.Users, f.world.addWallet); err != nil {
		return err
	}
	return f.to.exec(f.ctx, fmt.Sprintf(`update circulation set amount = %d`, f.world.funded))
}
