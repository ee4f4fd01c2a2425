package redisstore

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"hongbao/store/lineage"
	"hongbao/store/redisstore/internal/redistest"
	"hongbao/store/storetest"
)

func TestNotes(t *testing.T) { testNotes(t, storetest.RedisDatabase(t)) }

func TestNotesCluster(t *testing.T) {
	t.Parallel() // it waits for a cluster
	testNotes(t, storetest.RedisCluster(t).URL())
}

// testNotes saves more notes than are kept. Each instance has one, the oldest are dropped, and none that is damaged hides
// others.
func testNotes(t *testing.T, url string) {
	client := redistest.Dial(t, url)
	redistest.ForgetKeys(t, client, notesKey)
	n := notes{client}
	if all, err := n.Load(t.Context()); err != nil || len(all) != 0 {
		t.Fatalf("at first there are %d notes, %v; want none", len(all), err)
	}
	began := time.UnixMilli(1_800_000_000_000)
	for i := range mostNotes + 5 {
		marks := []lineage.Mark{{Chain: 7, Link: int64(i)}}
		for _, epoch := range []string{"before", "now"} {
			noError(t, n.Save(t.Context(), fmt.Sprint("instance ", i), lineage.Note{At: began.Add(time.Duration(i) * time.Second), Epoch: epoch, Marks: marks}))
		}
	}
	noError(t, client.HSet(t.Context(), notesKey, "damaged", "{").Err())
	old, err := client.HGetAll(t.Context(), notesKey).Result()
	noError(t, err)
	renewed := lineage.Note{At: began.Add(time.Hour), Epoch: "renewed"}
	noError(t, n.Save(t.Context(), "instance 0", renewed))
	old["instance 0"] = "an earlier text"
	noError(t, n.drop(t.Context(), []string{"instance 0", "damaged"}, old))
	if kept, err := client.HMGet(t.Context(), notesKey, "instance 0", "damaged").Result(); err != nil || kept[0] == nil || kept[1] != nil {
		t.Errorf("%v, %v; want the renewed note, and no damaged one", kept, err)
	}
	noError(t, client.HSet(t.Context(), notesKey, "damaged", "{").Err())
	noError(t, client.HDel(t.Context(), notesKey, "instance 0").Err())
	all, err := n.Load(t.Context())
	if err != nil || len(all) < keptNotes || len(all) > mostNotes {
		t.Fatalf("%d notes, %v; want %d to %d", len(all), err, keptNotes, mostNotes)
	}
	slices.SortFunc(all, func(a, b lineage.Note) int { return a.At.Compare(b.At) })
	newest := all[len(all)-1]
	if newest.Epoch != "now" || len(newest.Marks) != 1 || newest.Marks[0] != (lineage.Mark{Chain: 7, Link: mostNotes + 4}) ||
		!newest.At.Equal(began.Add((mostNotes+4)*time.Second)) {
		t.Errorf("the newest note is %+v", newest)
	}
	if oldest := all[0].Marks[0].Link; oldest < 5 {
		t.Errorf("note %d is kept, and newer ones were dropped", oldest)
	}
}
