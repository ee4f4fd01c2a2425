package chat

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
)

// amending is a table of which users may amend which texts. It has one column for each of requesters. Each column says
// what the requester may do to a text of their own, and to one of another user.
//
//nolint:dupword // a table
const amending = `
	edit   own       not_member not_found not_member banned not_found ok muted ok ok
	edit   another's not_member not_found not_member banned not_found forbidden muted forbidden forbidden
	recall own       not_member not_found not_member banned not_found ok ok ok ok
	recall another's not_member not_found not_member banned not_found forbidden forbidden ok ok
	react  own       not_member not_found not_member banned not_found ok muted ok ok
	react  another's not_member not_found not_member banned not_found ok muted ok ok`

func TestWhoMayAmend(t *testing.T) {
	for line := range strings.SplitSeq(strings.TrimSpace(amending), "\n") {
		row := strings.Fields(line)
		for i, requester := range requesters {
			a, s := newAmendment(EntryKind(row[0]))
			if row[1] == "own" {
				s.Entry.From.ID = a.By.ID
			}
			want := errorsByName[row[2+i]]
			if got, err := a.Apply(standings[requester], s, 9); !errors.Is(err, want) || (want == nil) != got.Changed {
				t.Errorf("%s: %s of %s text: %+v, %v; want %s", requester, row[0], row[1], got, err, row[2+i])
			}
		}
	}
}

// newAmendment returns an amendment by user a of a text of user b, made at the last moment at which it is allowed.
func newAmendment(kind EntryKind) (Amendment, *Subject) {
	a := Amendment{
		Kind: kind, Room: "r", Target: 4, By: User{ID: "a"}, Text: "new", Emoji: "👍", On: true,
		At: noon.Add(time.Minute), Window: time.Minute,
	}
	return a, &Subject{Entry: Entry{
		Room: "r", Seq: 4, At: noon, From: User{ID: "b"}, Kind: KindText, Body: json.RawMessage(`{"text":"old"}`),
	}}
}

// TestAmendmentsOfAText applies each amendment, by the author and by an admin, to each state of a text.
func TestAmendmentsOfAText(t *testing.T) {
	newer, older := "new", "old"
	recalled := Fold{RecallSeq: 7}
	edited := Fold{Text: &newer, EditedAt: noon.UnixMilli(), EditSeq: 6, Reactions: map[string]int{"👍": 2}}
	late := func(a *Amendment, _ *Subject) { a.At = a.At.Add(time.Nanosecond) }
	with := func(f Fold) func(*Amendment, *Subject) { return func(_ *Amendment, s *Subject) { s.Fold = f } }
	both := func(some ...func(*Amendment, *Subject)) func(*Amendment, *Subject) {
		return func(a *Amendment, s *Subject) {
			for _, f := range some {
				f(a, s)
			}
		}
	}
	same := func(a *Amendment, _ *Subject) { a.Text = "old" }
	anothers := func(_ *Amendment, s *Subject) { s.Entry.From.ID = "b" }
	reacted := func(_ *Amendment, s *Subject) { s.Reacted = true }
	off := func(a *Amendment, _ *Subject) { a.On = false }
	minute := noon.Add(time.Minute).UnixMilli()
	for _, test := range []struct {
		name   string
		kind   EntryKind
		as     string
		with   func(*Amendment, *Subject)
		seq    int64 // wanted seq of the entry that records the amendment
		body   string
		fold   Fold
		refuse string
	}{
		{"edited", KindEdit, "member", nil, 9, `{"target":4,"text":"new"}`, Fold{Text: &newer, EditedAt: minute, EditSeq: 9}, ""},
		{"edited to what it is", KindEdit, "member", same, 4, "", Fold{}, ""},
		{"edited to what it is, late", KindEdit, "member", both(same, late), 4, "", Fold{}, ""},
		{"edited to what it was edited to, late", KindEdit, "member", both(with(edited), late), 6, "", edited, ""},
		{"edited back", KindEdit, "member", both(with(edited), same), 9, `{"target":4,"text":"old"}`,
			Fold{Text: &older, EditedAt: minute, EditSeq: 9, Reactions: edited.Reactions}, ""},
		{"edited late", KindEdit, "owner", late, 0, "", Fold{}, "late"},
		{"edited when recalled", KindEdit, "member", with(recalled), 0, "", Fold{}, "conflict"},
		{"another's recalled, edited", KindEdit, "member", both(with(recalled), anothers), 0, "", Fold{}, "forbidden"},

		{"recalled", KindRecall, "member", with(edited), 9, `{"target":4}`, Fold{RecallSeq: 9}, ""},
		{"recalled again", KindRecall, "member", both(with(recalled), late), 7, "", recalled, ""},
		{"another's recalled again", KindRecall, "member", both(with(recalled), anothers), 0, "", Fold{}, "forbidden"},
		{"recalled late", KindRecall, "member", late, 0, "", Fold{}, "late"},
		{"recalled late by an admin", KindRecall, "admin", both(late, anothers), 9, `{"target":4}`, Fold{RecallSeq: 9}, ""},

		{"reacted, late", KindReact, "member", late, 9, `{"target":4,"emoji":"👍","on":true,"count":1}`,
			Fold{Reactions: map[string]int{"👍": 1}}, ""},
		{"reacted too", KindReact, "member", with(edited), 9, `{"target":4,"emoji":"👍","on":true,"count":3}`,
			Fold{Text: &newer, EditedAt: edited.EditedAt, EditSeq: 6, Reactions: map[string]int{"👍": 3}}, ""},
		{"reacted again", KindReact, "member", both(with(edited), reacted), 4, "", edited, ""},
		{"taken off", KindReact, "member", both(with(Fold{Reactions: map[string]int{"👍": 1}}), reacted, off), 9,
			`{"target":4,"emoji":"👍","on":false,"count":0}`, Fold{Reactions: map[string]int{}}, ""},
		{"taken off again", KindReact, "member", both(with(edited), off), 4, "", edited, ""},
		{"reacted when recalled", KindReact, "member", with(recalled), 0, "", Fold{}, "conflict"},
		{"taken off when recalled", KindReact, "member", both(with(recalled), off), 0, "", Fold{}, "conflict"},
		{"one emoji too many", KindReact, "member", with(Fold{Reactions: emojis(50)}), 0, "", Fold{}, "limit"},
		{"one of the fifty", KindReact, "member", func(a *Amendment, s *Subject) { s.Fold.Reactions, a.Emoji = emojis(50), "e7" }, 9,
			`{"target":4,"emoji":"e7","on":true,"count":2}`, Fold{Reactions: func() map[string]int { m := emojis(50); m["e7"] = 2; return m }()}, ""},
	} {
		a, s := newAmendment(test.kind)
		s.Entry.From.ID = a.By.ID
		if test.with != nil {
			test.with(&a, s)
		}
		before := fmt.Sprint(s.Fold)
		want := AmendmentRuling{Changed: test.body != "", Seq: test.seq, Fold: test.fold, Empty: test.kind == KindRecall && test.body != ""}
		if test.body != "" {
			want.Body = json.RawMessage(test.body)
		}
		got, err := a.Apply(standings[test.as], s, 9)
		if refused := errorsByName[test.refuse]; !errors.Is(err, refused) || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %v\nwant %+v, %v", test.name, got, err, want, refused)
		}
		if after := fmt.Sprint(s.Fold); after != before {
			t.Errorf("%s: the subject was %s and is %s", test.name, before, after)
		}
	}
}

func emojis(n int) map[string]int {
	all := map[string]int{}
	for i := range n {
		all[fmt.Sprint("e", i)] = 1
	}
	return all
}

// TestOnlyTextsAreAmended amends entries that are no texts: only a packet takes reactions. Only a user that may amend may learn from the error what
// is wrong with the seq.
func TestOnlyTextsAreAmended(t *testing.T) {
	for _, kind := range []EntryKind{KindEdit, KindRecall, KindReact} {
		a, s := newAmendment(kind)
		s.Entry.Kind = KindPacket
		if got, err := a.Apply(standings["member"], s, 9); kind == KindReact && (err != nil || !got.Changed) {
			t.Errorf("%s of a packet: %+v, %v", kind, got, err)
		} else if kind == KindReact {
			s.Entry.Kind = KindMember
		}
		var bad *FieldError
		if _, err := a.Apply(standings["owner"], s, 9); !errors.As(err, &bad) || bad.Err != ErrBadRequest || bad.Field != "seq" {
			t.Errorf("%s of a %s: %v", kind, s.Entry.Kind, err)
		}
		if _, err := a.Apply(standings["owner"], nil, 9); !errors.As(err, &bad) || bad.Err != ErrNotFound || bad.Field != "seq" {
			t.Errorf("%s of nothing: %v", kind, err)
		}
		if _, err := a.Apply(standings["former"], nil, 9); !errors.Is(err, ErrNotMember) {
			t.Errorf("%s of nothing by a former member: %v", kind, err)
		}
	}
}
