package storetest

import (
	"fmt"
	"testing"
	"time"

	"hongbao/chat"
	"hongbao/chat/words"
)

// TestWordsThatNeverMeet searches for two words that 50,000 texts have each, and one old text has both. Each request must look at a bounded number of rows,
// and the text must be found by going on. exec runs a statement of both databases.
func TestWordsThatNeverMeet(t *testing.T, s chat.Store, exec func(statement string)) {
	const room, texts = "apart", 100_000
	at := time.UnixMilli(1).UTC()
	_, _, err := s.CreateRoom(t.Context(), chat.NewRoom{ID: room, Name: room, Kind: chat.Private, Owner: chat.User{ID: "ann"}, Key: "k", Hash: []byte("h"), At: at, MaxRooms: 9})
	noError(t, err)
	d := chat.Draft{ID: "both", Room: room, From: chat.User{ID: "ann"}, Kind: chat.KindText, Key: "both", Hash: []byte("h"), Body: []byte(`{"text":"chalk and cheese"}`), At: at}
	_, _, err = s.Append(t.Context(), d)
	noError(t, err)
	chalk, cheese := words.Hash(room, "chalk"), words.Hash(room, "cheese")
	row := `(/*! bucket, */ word, at, seq)`
	exec(fmt.Sprintf(`insert into entry_words %s values (/*! %d, */ %d, 1, 1), (/*! %d, */ %d, 1, 1)`, row, chalk&15, chalk, cheese&15, cheese))
	exec(fmt.Sprintf(`insert into entry_words %s with recursive n (i) as (select 2 union all select i + 1 from n where i <= %d)
		select /*! %d, */ case i %% 2 when 0 then %d else %d end, i, i from n`, row, texts, chalk&15, chalk, cheese))
	exec(fmt.Sprintf(`update rooms set last_seq = %d where id = '%s'`, texts+1, room))
	exec(fmt.Sprintf(`insert into indexed_rooms (/*! bucket, */ room_id, seq) values (/*! %d, */ '%s', %d)`, words.Bucket(room), room, texts+1))

	q := chat.Search{User: "ann", Query: words.ParseQuery("chalk cheese"), Limit: 20}
	requests, hits := 0, 0
	for more := true; more; more = q.Next != "" {
		found, err := s.Search(t.Context(), q)
		noError(t, err)
		requests, hits, q.Next = requests+1, hits+len(found.Hits), found.More
	}
	q.Query = words.ParseQuery("chalk zz") // the longer word is not the rarer one
	if found, err := s.Search(t.Context(), q); err != nil || len(found.Hits) > 0 || found.More != "" {
		t.Errorf("a frequent word and one that no text has: %d hits, next %q, %v; want an empty result", len(found.Hits), found.More, err)
	}
	if hits != 1 || requests < 3 || requests > 4 {
		t.Errorf("%d hits in %d requests, want 1 in 3 or 4: each compares 20,000 of the 50,000 rows of a word", hits, requests)
	}
}
