package redisstore

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"hongbao/store/lineage"
)

const (
	// notesKey is a hash with the note of each instance, by name.
	notesKey = "notes"
	// When there are more than mostNotes notes, all but the newest keptNotes are deleted: an instance that ends does not
	// delete its note.
	keptNotes, mostNotes = 16, 64
	// notesWait is the longest that one call may wait for a slow Redis.
	notesWait = time.Second
)

// notes implements lineage.Notes.
type notes struct{ client redis.UniversalClient }

var _ lineage.Notes = notes{}

// Save implements lineage.Notes.
func (n notes) Save(ctx context.Context, instance string, note lineage.Note) error {
	ctx, cancel := context.WithTimeout(ctx, notesWait)
	defer cancel()
	text, err := json.Marshal(note)
	if err != nil {
		return err
	}
	pipe := n.client.Pipeline()
	pipe.HSet(ctx, notesKey, instance, text)
	count := pipe.HLen(ctx, notesKey)
	if _, err := pipe.Exec(ctx); err != nil {
		return unavailable("save note", err)
	}
	if count.Val() > mostNotes {
		return n.prune(ctx)
	}
	return nil
}

// prune deletes all notes but the newest keptNotes.
func (n notes) prune(ctx context.Context) error {
	all, err := n.all(ctx)
	if err != nil {
		return err
	}
	instances := make([]string, 0, len(all))
	for instance := range all {
		instances = append(instances, instance)
	}
	slices.SortFunc(instances, func(a, b string) int { return all[b].At.Compare(all[a].At) })
	if old := instances[min(keptNotes, len(instances)):]; len(old) > 0 {
		err = n.client.HDel(ctx, notesKey, old...).Err()
	}
	if err != nil {
		return unavailable("delete old notes", err)
	}
	return nil
}

// Load implements lineage.Notes.
func (n notes) Load(ctx context.Context) ([]lineage.Note, error) {
	ctx, cancel := context.WithTimeout(ctx, notesWait)
	defer cancel()
	all, err := n.all(ctx)
	list := make([]lineage.Note, 0, len(all))
	for _, note := range all {
		list = append(list, note)
	}
	return list, err
}

// all returns the notes by instance. A note that cannot be parsed is left out.
func (n notes) all(ctx context.Context) (map[string]lineage.Note, error) {
	texts, err := n.client.HGetAll(ctx, notesKey).Result()
	if err != nil {
		return nil, unavailable("load notes", err)
	}
	all := make(map[string]lineage.Note, len(texts))
	for instance, text := range texts {
		var note lineage.Note
		if json.Unmarshal([]byte(text), &note) == nil {
			all[instance] = note
		}
	}
	return all, nil
}
