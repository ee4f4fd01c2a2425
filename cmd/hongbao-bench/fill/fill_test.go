package fill

import (
	"errors"
	"log/slog"
	"strings"
	"testing"

	"hongbao/redpacket"
	"hongbao/store"
	"hongbao/store/enginetest"
	"hongbao/store/loopback"
	"hongbao/store/pgstore"
)

var small = Size{Users: 1500, Rooms: 300, Entries: 4000, Packets: 200, Claims: 1000, Wins: 50, Joined: 40, Members: 600, Entered: 300}

// TestFilledBooksBalance fills a database of each engine. An audit must find no difference, and as many rows as were wanted.
func TestFilledBooksBalance(t *testing.T) {
	t.Run("SQLite", func(t *testing.T) {
		c := store.Config{DataDir: t.TempDir()}
		must(t, Database(t.Context(), "", c.DataDir, small, func(Progress) {}))
		checkFilled(t, c)
		if err := Database(t.Context(), "", c.DataDir, small, nil); err == nil || !strings.Contains(err.Error(), "without a database") {
			t.Errorf("filled again: %v", err)
		}
	})
	t.Run("Postgres", func(t *testing.T) {
		enginetest.Need(t, "Postgres")
		server, err := loopback.StartPostgres(t.Context(), t.TempDir())
		must(t, err)
		t.Cleanup(server.Stop)
		url, err := server.NewDatabase(t.Context())
		must(t, err)
		must(t, Database(t.Context(), url, "", small, func(Progress) {}))
		checkFilled(t, store.Config{DatabaseURL: url})
		if err := Database(t.Context(), url, "", small, nil); !errors.Is(err, pgstore.ErrNotEmpty) {
			t.Errorf("filled again: %v", err)
		}
	})
}

func checkFilled(t *testing.T, c store.Config) {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	auditor, err := store.OpenAuditor(t.Context(), c, log)
	must(t, err)
	found, err := auditor.Audit(t.Context(), nil)
	must(t, err)
	must(t, auditor.Close())
	for _, d := range found.Differences {
		t.Errorf("%s %s: %s", d.Kind, d.ID, d.What)
	}
	if found.Rooms != small.Rooms || found.Entries != int64(small.Entries)+1 || found.Packets != small.Packets+1 || found.Claims != small.Claims {
		t.Errorf("%d rooms, %d entries, %d packets, %d claims, want %+v", found.Rooms, found.Entries, found.Packets, found.Claims, small)
	}
	books, err := store.OpenBooks(t.Context(), c, log)
	must(t, err)
	defer func() { must(t, books.Close()) }()
	page, err := books.Ledger.Packets(t.Context(), redpacket.PacketsQuery{Of: Winner, Direction: redpacket.DirReceived, Limit: 1})
	must(t, err)
	if page.Totals.Count < small.Wins {
		t.Errorf("%s has won %d times, want %d", Winner, page.Totals.Count, small.Wins)
	}
	rooms, err := books.Chat.Memberships(t.Context(), Joiner)
	if err != nil || len(rooms) != small.Joined+1 {
		t.Errorf("%s is in %d rooms, %v, want %d and Crowd", Joiner, len(rooms), err, small.Joined)
	}
	crowd, err := books.Chat.Room(t.Context(), Crowd)
	if err != nil || crowd.Members != small.Members {
		t.Errorf("%s has %d members, %v, want %d", Crowd, crowd.Members, err, small.Members)
	}
	entered, err := books.Ledger.Enter(t.Context(), Draw, []redpacket.Entrant{{User: userID(3)}})
	if err != nil || len(entered.New) != 1 || entered.Participants != small.Entered+1 {
		t.Errorf("%s entered by one more: %+v, %v, want one more than %d participants", Draw, entered, err, small.Entered)
	}
	if names, _, err := books.Chat.FindRooms(t.Context(), roomName(10), "", 5); err != nil || len(names) != 1 || names[0].ID != roomID(10) {
		t.Errorf("the name of a public room finds %+v, %v", names, err)
	}
}

func TestSizes(t *testing.T) {
	for _, scale := range []float64{0.001, 0.1, 1, 2} {
		if err := Full.Times(scale).check(); err != nil {
			t.Errorf("scale %v: %v", scale, err)
		}
	}
	wrong := small
	wrong.Members = small.Users + 1
	if wrong.check() == nil {
		t.Errorf("%+v is allowed", wrong)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
