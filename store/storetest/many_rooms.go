package storetest

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"hongbao/chat"
	"hongbao/chat/words"
)

// TestManyRooms searches among 12,000 public rooms. A search reads all rooms with a rare word, and otherwise 10,000 rooms for a page, so it
// must find the oldest rooms by frequent words, too. exec runs a statement of both databases.
func TestManyRooms(t *testing.T, s chat.Store, exec func(statement string)) {
	const rooms, ancient = 12_000, 1500
	var stored, found []string // rows
	for n := range rooms {
		name := fmt.Sprintf("common %d", n)
		if n < ancient {
			name += " ancient"
		}
		id := fmt.Sprintf("r%05d", n)
		stored = append(stored, fmt.Sprintf("('%s', '%s', 'public', 1, %d)", id, name, n))
		for _, word := range words.Parts(name) {
			found = append(found, fmt.Sprintf("('%s', '%s')", word, id))
		}
		if n%1000 == 999 {
			exec(`insert into rooms (id, name, kind, members, created_at) values ` + strings.Join(stored, ", "))
			exec(`insert into room_words (word, room_id) values ` + strings.Join(found, ", "))
			stored, found = nil, nil
		}
	}
	for query, want := range map[string]struct{ rooms, pages int }{
		"":               {rooms, rooms / 100},
		"common":         {rooms, rooms / 100},
		"common 11999":   {1, 1},
		"ancient":        {ancient, 1 + ancient/100}, // the first page reads 10,000 newer rooms, and lists none
		"common 7":       {1111, 12},
		"common 7777":    {1, 1},
		"common ancient": {0, 2},
		"elsewhere":      {0, 1},
		"mmon 11998":     {1, 1},
	} {
		n, pages, last := 0, 0, "s"
		for next := ""; pages == 0 || next != ""; pages++ {
			page, more, err := s.FindRooms(context.Background(), query, next, 100)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range page {
				if r.ID >= last || !words.Match(r.Name, query) {
					t.Fatalf("%q finds %s, %q, after %s", query, r.ID, r.Name, last)
				}
				last = r.ID
			}
			n, next = n+len(page), more
		}
		if n != want.rooms || pages != want.pages {
			t.Errorf("%q finds %d rooms on %d pages, want %d on %d", query, n, pages, want.rooms, want.pages)
		}
	}
}
