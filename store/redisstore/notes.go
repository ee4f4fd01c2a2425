package redisstore

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"hongbao/store/lineage"
	"hongbao/store/redisstore/internal/nodes"
)

const (
	// notesKey is the key of a hash that holds the note of each instance, by the instance's name.
	notesKey = "notes"
	// When there are more than mostNotes notes, all but the newest keptNotes are deleted, except notes that are renewed
	// meanwhile. Notes accumulate, because an instance that ends does not delete its note.
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
		return nodes.Unavailable("save note", err)
	}
	if count.Val() > mostNotes {
		return n.prune(ctx)
	}
	return nil
}

// prune deletes all notes but the newest keptNotes. A note that cannot be parsed counts as the oldest.
func (n notes) prune(ctx context.Context) error {
	texts, err := n.client.HGetAll(ctx, notesKey).Result()
	if err != nil {
		return nodes.Unavailable("load notes", err)
	}
	at := make(map[string]time.Time, len(texts))
	for instance, text := range texts {
		note, _ := parseNote(text)
		at[instance] = note.At
	}
	newest := slices.SortedFunc(maps.Keys(texts), func(a, b string) int { return at[b].Compare(at[a]) })
	return n.drop(ctx, newest[min(keptNotes, len(newest)):], texts)
}

// dropUnchanged deletes fields of a hash that still have the given values. ARGV holds each field, followed by its value.
const dropUnchanged = `
for i = 1, #ARGV, 2 do
  if redis.call('HMGET', KEYS[1], ARGV[i])[1] == ARGV[i + 1] then
    redis.call('HDEL', KEYS[1], ARGV[i])
  end -- otherwise the instance has renewed its note
end
return 0`

// drop deletes the notes of the instances that still have these texts. An instance may have renewed its note meanwhile.
func (n notes) drop(ctx context.Context, instances []string, texts map[string]string) error {
	if len(instances) == 0 {
		return nil
	}
	args := make([]any, 0, 2*len(instances))
	for _, instance := range instances {
		args = append(args, instance, texts[instance])
	}
	if err := n.client.Eval(ctx, dropUnchanged, []string{notesKey}, args...).Err(); err != nil {
		return nodes.Unavailable("delete old notes", err)
	}
	return nil
}

// Load implements lineage.Notes. A note that cannot be parsed is left out.
func (n notes) Load(ctx context.Context) ([]lineage.Note, error) {
	ctx, cancel := context.WithTimeout(ctx, notesWait)
	defer cancel()
	texts, err := n.client.HGetAll(ctx, notesKey).Result()
	if err != nil {
		return nil, nodes.Unavailable("load notes", err)
	}
	list := make([]lineage.Note, 0, len(texts))
	for _, text := range texts {
		if note, ok := parseNote(text); ok {
			list = append(list, note)
		}
	}
	return list, nil
}

func parseNote(text string) (note lineage.Note, ok bool) {
	ok = json.Unmarshal([]byte(text), &note) == nil
	return note, ok
}
