package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"hongbao/chat"
	"hongbao/chat/words"
	"hongbao/cmd/hongbao-bench/fill"
	"hongbao/store/pgstore"
)

// searches are what searchCommand measures in a database of fill.
var searches = []struct {
	name, user, room, words, from string
}{
	{"a word that everybody uses, in many rooms", fill.Joiner, "", "the", ""},
	{"a word that nobody uses, in many rooms", fill.Joiner, "", "nowhere", ""},
	{"two frequent words, in many rooms", fill.Joiner, "", "the lunch", ""},
	{"a phrase, in many rooms", fill.Joiner, "", `"the and"`, ""},
	{"a frequent word of a user that has not said it, in many rooms", fill.Joiner, "", "the", "nobody"},
	{"a word that everybody uses, in a large room", fill.Winner, fill.Crowd, "the", ""},
	{"a word that nobody uses, in a large room", fill.Winner, fill.Crowd, "nowhere", ""},
	{"a Chinese character, in a large room", fill.Winner, fill.Crowd, "新", ""},
}

// searchCommand is the subcommand that measures searches in a large database.
func searchCommand() command {
	return command{name: "search", summary: "measure searches in a Postgres that fill has filled", setup: func(fs *flag.FlagSet) func(context.Context, *program) error {
		database := fs.String("database", "", "URL of the database")
		return func(ctx context.Context, p *program) error {
			if *database == "" {
				return errors.New("want --database")
			}
			store, err := pgstore.Open(ctx, *database, slog.New(slog.DiscardHandler))
			if err != nil {
				return err
			}
			return errors.Join(measureSearches(ctx, p, store), store.Close())
		}
	}}
}

// searchTimes is how often each search is made.
const searchTimes = 100

func measureSearches(ctx context.Context, p *program, store *pgstore.Store) error {
	rooms, err := store.Memberships(ctx, fill.Joiner)
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(p.stdout, "many rooms: %d; ms of %d searches\n\n| search | hits | median | p99 |\n|---|---|---|---|\n", len(rooms), searchTimes)
	for _, s := range searches {
		q := chat.Search{User: s.user, Room: s.room, Query: words.ParseQuery(s.words), From: s.from, Limit: 20}
		var found chat.Found
		times := make([]time.Duration, searchTimes)
		for n := range times {
			began := time.Now()
			if found, err = store.Search(ctx, q); err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			times[n] = time.Since(began)
		}
		slices.Sort(times)
		ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
		_, _ = fmt.Fprintf(p.stdout, "| %s | %d | %.1f | %.1f |\n", s.name, len(found.Hits), ms(times[searchTimes/2]), ms(times[searchTimes*99/100]))
	}
	return nil
}
