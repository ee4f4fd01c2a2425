package storetest

import (
	"bytes"
	"slices"
	"strconv"
	"time"

	"hongbao/chat"
	"hongbao/chat/files"
)

func fileTests() []storeTest {
	return []storeTest{
		{"a file comes piece by piece, and is sent with one text", fileSent},
		{"a repeated message with a file gives the first answer", fileRepeated},
		{"only ready files of the sender and the room can be sent", fileRefused},
		{"two messages at once cannot have one file", fileTakenOnce},
		{"a recalled text drops its files, and a recalled text without files does not", fileRecalled},
		{"files with one content share a folder, and the last one frees it", fileShared},
		{"the bytes of all uploads are bounded", fileBytesBounded},
		{"the uploads of a user that are coming are bounded", filesComingBounded},
		{"a file counts what is stored of it", fileBytesStored},
		{"files without a text are dropped, and a failing removal waits", fileUnused},
		{"the files of a deleted room are dropped", fileOfDeletedRoom},
		{"a held file is released, and listed", fileHeld},
		{"a file is found by its name", fileSearched},
		{"files are counted", filesCounted},
		{"texts with files of one kind", textsWithFiles},
	}
}

func (b *storeBench) files() files.Rows {
	b.Helper()
	rows, ok := b.Store.(files.Rows)
	if !ok {
		b.Fatal("this store keeps no files")
	}
	return rows
}

// upload begins an upload of 10 bytes.
func (b *storeBench) upload(room, user string) files.Stored {
	b.Helper()
	return b.uploadOf(chat.OtherFile, room, user)
}

func (b *storeBench) uploadOf(kind chat.FileKind, room, user string) files.Stored {
	b.Helper()
	f := files.Stored{
		File: chat.File{ID: b.id("f"), Kind: kind, Name: "Report.pdf", Type: "application/pdf", Size: 10},
		Room: room, User: user, At: b.tick(), State: files.Coming, Upload: 10,
	}
	b.must(b.files().AddFile(b.ctx, f, 0))
	return f
}

// finish finishes an upload with a content that is all n.
func (b *storeBench) finish(f files.Stored, n byte, folder string) files.Stored {
	b.Helper()
	f.State, f.Hash, f.Folder = files.Ready, bytes.Repeat([]byte{n}, 32), folder
	done, err := b.files().FinishFile(b.ctx, f, b.now)
	b.must(err)
	return done
}

// ready returns a file that can be sent.
func (b *storeBench) ready(room, user string, n byte) files.Stored {
	b.Helper()
	f := b.upload(room, user)
	return b.finish(f, n, f.ID)
}

func (b *storeBench) sendFiles(room, from string, all ...files.Stored) (chat.Entry, error) {
	d := b.draft(room, from, "look")
	var text chat.Text
	for _, f := range all {
		d.Files, text.Files = append(d.Files, f.ID), append(text.Files, f.File)
	}
	d.Body, _ = chat.Body(text)
	e, _, err := b.Append(b.ctx, d)
	return e, err
}

// fileIs fails the test unless the file has this state and is of this entry. The empty state stands for no file.
func (b *storeBench) fileIs(f files.Stored, state files.State, seq int64) {
	b.Helper()
	stored, err := b.files().StoredFile(b.ctx, f.Room, f.ID)
	if state == "" {
		b.refused(err, chat.ErrNotFound)
		return
	}
	b.must(err)
	if stored.State != state || stored.Seq != seq {
		b.Errorf("file %s is %s and of entry %d, want %s and %d", f.ID, stored.State, stored.Seq, state, seq)
	}
}

// swept removes what the sweep finds now, and returns the ids.
func (b *storeBench) swept() (ids []string) {
	b.Helper()
	for {
		found, err := b.files().SweptFiles(b.ctx, b.now, b.now, 10)
		b.must(err)
		if len(found) == 0 {
			return ids
		}
		for _, f := range found {
			ids = append(ids, f.ID)
			if f.State != files.Dropped {
				b.must(b.files().CleanFile(b.ctx, f.Room, f.ID))
				continue
			}
			gone, err := b.files().ForgetFile(b.ctx, f.Room, f.ID)
			b.must(err)
			if !gone {
				b.Fatalf("file %s is swept, but needed", f.ID)
			}
		}
	}
}

func (b *storeBench) fileBytes(want int64) {
	b.Helper()
	n, of, err := b.files().FileBytes(b.ctx)
	b.must(err)
	if n != want || of != want {
		b.Errorf("all files have %d bytes, and %d by their rows, want %d", n, of, want)
	}
}

// filesCounted samples files of each state. A dropped file whose content another one needs is not one to be removed.
func filesCounted(b *storeBench) {
	room := b.room(ann, bob)
	sampled := func(most int, want files.Sample) {
		b.Helper()
		got, err := b.files().SampleFiles(b.ctx, most)
		if b.must(err); got != want {
			b.Errorf("the sample is %+v, want %+v", got, want)
		}
	}
	sampled(10, files.Sample{})
	b.upload(room, ann)
	first := b.ready(room, ann, 1)
	b.finish(b.upload(room, bob), 1, first.ID)
	for n := range byte(3) {
		held := b.upload(room, bob)
		held.State, held.Hash, held.Folder = files.Held, bytes.Repeat([]byte{10 + n}, 32), held.ID
		_, err := b.files().FinishFile(b.ctx, held, b.now)
		b.must(err)
	}
	sampled(10, files.Sample{Bytes: 50, Held: 3})
	sampled(2, files.Sample{Bytes: 50, Held: 2})
	b.must(b.files().DropFile(b.ctx, room, first.ID, b.now, files.DropAny))
	sampled(10, files.Sample{Bytes: 50, Held: 3})
	gone := b.ready(room, ann, 2)
	b.must(b.files().DropFile(b.ctx, room, gone.ID, b.now, files.DropAny))
	sampled(10, files.Sample{Bytes: 60, Held: 3, Dropped: 1})
	b.swept()
	sampled(10, files.Sample{Bytes: 50, Held: 3})
}

func fileSent(b *storeBench) {
	room := b.room(ann, bob)
	f := b.upload(room, ann)
	b.fileBytes(10)
	b.must(b.files().AdvanceFile(b.ctx, f, 4, b.now))
	b.must(b.files().AdvanceFile(b.ctx, f, 4, b.now)) // again, by a request whose answer was lost
	b.refused(b.files().AdvanceFile(b.ctx, f, 6, b.now), chat.ErrConflict)
	f.Received = 4
	b.must(b.files().AdvanceFile(b.ctx, f, 10, b.now))
	b.Store = b.Reopen()
	stored, err := b.files().StoredFile(b.ctx, room, f.ID)
	b.must(err)
	if stored.Received != 10 || stored.Name != f.Name || !stored.At.Equal(f.At) || stored.User != ann {
		b.Errorf("got %+v", stored)
	}
	stored.Made = []files.Made{{Version: files.Small, Type: "image/jpeg", Size: 3, Hash: []byte{1}}}
	done := b.finish(stored, 1, f.ID)
	again := b.finish(stored, 2, f.ID) // by another request: the first result stays
	if again.Hash[0] != 1 || len(again.Made) != 1 || again.Made[0].Size != 3 {
		b.Errorf("finished again: %+v", again)
	}
	listed, err := b.Files(b.ctx, room, ann, []string{f.ID})
	b.must(err)
	if len(listed) != 1 || listed[0] != done.File {
		b.Errorf("got the files %+v, want %+v", listed, done.File)
	}
	e, err := b.sendFiles(room, ann, done)
	b.must(err)
	b.fileIs(f, files.Ready, e.Seq)
	listed, err = b.Files(b.ctx, room, ann, []string{f.ID})
	b.must(err)
	if len(listed) != 0 {
		b.Error("a file that is sent can be sent again")
	}
	b.balanced()
}

func fileRepeated(b *storeBench) {
	room := b.room(ann, bob)
	f := b.ready(room, ann, 1)
	d := b.draft(room, ann, "look")
	d.Files = []string{f.ID}
	first, _, err := b.Append(b.ctx, d)
	b.must(err)
	again, dup, err := b.Append(b.ctx, d)
	b.must(err)
	if !dup || again.Seq != first.Seq {
		b.Errorf("repeated: seq %d, dup %t, want %d and true", again.Seq, dup, first.Seq)
	}
}

func fileRefused(b *storeBench) {
	room, other := b.room(ann, bob), b.room(ann, bob)
	good := b.ready(room, ann, 1)
	dropped := b.ready(room, ann, 2)
	b.must(b.files().DropFile(b.ctx, room, dropped.ID, b.now, files.DropUnsent))
	sent := b.ready(room, ann, 3)
	_, err := b.sendFiles(room, ann, sent)
	b.must(err)
	for _, wrong := range []files.Stored{b.ready(room, bob, 4), b.ready(other, ann, 5), b.upload(room, ann), dropped, sent, {File: chat.File{ID: "none"}}} {
		b.unchanged(room, func() {
			_, err := b.sendFiles(room, ann, good, wrong)
			b.refusedField(err, chat.ErrConflict, "files")
		})
		b.fileIs(good, files.Ready, 0)
	}
	b.refused(b.files().DropFile(b.ctx, room, sent.ID, b.now, files.DropUnsent), chat.ErrConflict)
	b.refused(b.files().DropFile(b.ctx, room, good.ID, b.now, files.DropComing), chat.ErrConflict)
	e, err := b.sendFiles(room, ann, good)
	b.must(err)
	b.fileIs(good, files.Ready, e.Seq)
}

func fileTakenOnce(b *storeBench) {
	room := b.room(ann, bob)
	f := b.ready(room, ann, 1)
	const tries = 8
	results := make(chan error, tries)
	for n := range tries {
		d := b.draft(room, ann, "look "+strconv.Itoa(n))
		d.Files = []string{f.ID}
		go func() {
			_, _, err := b.Append(b.ctx, d)
			results <- err
		}()
	}
	taken := 0
	for range tries {
		if err := <-results; err == nil {
			taken++
		} else {
			b.refusedField(err, chat.ErrConflict, "files")
		}
	}
	if taken != 1 {
		b.Errorf("%d messages have the file", taken)
	}
	b.balanced()
}

func fileRecalled(b *storeBench) {
	room := b.room(ann, bob)
	f, other := b.ready(room, ann, 1), b.ready(room, ann, 2)
	e, err := b.sendFiles(room, ann, f)
	b.must(err)
	kept, err := b.sendFiles(room, ann, other)
	b.must(err)
	b.must(second(b.Amend(b.ctx, b.amending(chat.KindRecall, room, ann, e.Seq))))
	b.fileIs(f, files.Dropped, 0)
	b.fileIs(other, files.Ready, kept.Seq)
	b.tick()
	if ids := b.swept(); slices.Contains(ids, f.ID) {
		b.Error("a recalled file is removed at once: another request may still be storing its content")
	}
	b.now = b.now.Add(files.DropGrace)
	if ids := b.swept(); !slices.Contains(ids, f.ID) {
		b.Errorf("swept %v, want %s", ids, f.ID)
	}
	b.fileIs(f, "", 0)
	b.fileIs(other, files.Ready, kept.Seq)
	b.balanced()
}

func second[T any](_ T, err error) error { return err }

func fileShared(b *storeBench) {
	room, other := b.room(ann, bob), b.room(ann, bob)
	first := b.ready(room, ann, 1)
	if folder, err := b.files().FolderOf(b.ctx, files.Stored{Room: other, Hash: first.Hash}); err != nil || folder != "" {
		b.Errorf("another room has the folder %q, err %v", folder, err)
	}
	folder, err := b.files().FolderOf(b.ctx, files.Stored{Room: room, Hash: first.Hash})
	b.must(err)
	twin := b.finish(b.upload(room, bob), 1, folder)
	if twin.Folder != first.ID {
		b.Fatalf("the twin is in %q, want %q", twin.Folder, first.ID)
	}
	if folder, err := b.files().FolderOf(b.ctx, files.Stored{Room: room, Hash: first.Hash, Made: []files.Made{{Version: files.Small}}}); err != nil || folder != "" {
		b.Errorf("a picture with smaller versions shares the folder %q of a file without, err %v", folder, err)
	}
	wrong := b.upload(room, bob)
	wrong.State, wrong.Hash, wrong.Folder = files.Ready, []byte("another content"), first.ID
	b.refused(second(b.files().FinishFile(b.ctx, wrong, b.now)), chat.ErrConflict)

	b.must(b.files().DropFile(b.ctx, room, first.ID, b.now, files.DropUnsent))
	third := b.finish(b.upload(room, ann), 1, first.ID) // the twin still has the content
	b.tick()
	if ids := b.swept(); slices.Contains(ids, first.ID) {
		b.Error("a folder is swept that two files need")
	}
	b.must(b.files().DropFile(b.ctx, room, twin.ID, b.now, files.DropUnsent))
	b.must(b.files().DropFile(b.ctx, room, third.ID, b.now, files.DropUnsent))
	late := b.upload(room, ann)
	late.State, late.Hash, late.Folder = files.Ready, first.Hash, first.ID
	b.refused(second(b.files().FinishFile(b.ctx, late, b.now)), chat.ErrConflict)
	b.tick()
	if ids := b.swept(); !slices.Contains(ids, first.ID) || slices.Index(ids, first.ID) < slices.Index(ids, twin.ID) {
		b.Errorf("swept %v, want the twins before %s", ids, first.ID)
	}
}

func fileBytesBounded(b *storeBench) {
	room := b.room(ann)
	f := b.upload(room, ann)
	next := f
	next.ID, next.Upload = b.id("f"), 11
	err := b.files().AddFile(b.ctx, next, 20)
	b.refusedField(err, chat.ErrLimitExceeded, "size")
	b.fileIs(next, "", 0)
	b.fileBytes(10)
	next.Upload = 10
	b.must(b.files().AddFile(b.ctx, next, 20))
	b.fileBytes(20)
	b.must(b.files().DropFile(b.ctx, room, next.ID, b.now, files.DropUnsent))
	b.must(b.files().DropFile(b.ctx, room, next.ID, b.now, files.DropUnsent))
	b.fileBytes(20)
	b.swept()
	b.fileBytes(10)
}

func filesComingBounded(b *storeBench) {
	room, other := b.room(ann, bob), b.room(ann)
	f := b.upload(room, ann)
	for range files.ComingAtOnce - 1 {
		b.upload(other, ann)
	}
	more := f
	more.ID = b.id("f")
	b.refusedField(b.files().AddFile(b.ctx, more, 0), chat.ErrLimitExceeded, "file")
	b.fileIs(more, "", 0)
	b.fileBytes(10 * files.ComingAtOnce)
	b.upload(room, bob)
	b.finish(f, 1, f.ID)
	b.must(b.files().AddFile(b.ctx, more, 0))
}

func fileBytesStored(b *storeBench) {
	room := b.room(ann, bob)
	f := b.upload(room, ann)
	f.Size, f.Made = 7, []files.Made{{Version: files.Middle, Size: 5}, {Version: files.Small, Size: 3}}
	f = b.finish(f, 1, f.ID)
	b.fileBytes(15)
	b.finish(f, 1, f.ID) // by another request
	b.fileBytes(15)
	twin := b.upload(room, bob)
	b.fileBytes(25)
	twin.Size, twin.Made = f.Size, f.Made
	twin = b.finish(twin, 1, f.ID)
	b.fileBytes(15)
	e, err := b.sendFiles(room, ann, f)
	b.must(err)
	b.must(b.files().DropFile(b.ctx, room, f.ID, b.now, files.DropAny))
	b.fileBytes(15) // the twin needs it
	b.must(b.files().DropFile(b.ctx, room, twin.ID, b.now, files.DropAny))
	b.swept()
	b.fileBytes(0)
	b.fileIs(f, files.Removed, e.Seq)
}

func fileUnused(b *storeBench) {
	room := b.room(ann)
	old := b.upload(room, ann)
	sent := b.ready(room, ann, 1)
	e, err := b.sendFiles(room, ann, sent)
	b.must(err)
	b.must(b.files().CleanFile(b.ctx, room, sent.ID))
	before := b.tick()
	young := b.upload(room, ann)
	later := b.now.Add(time.Minute)
	n, err := b.files().DropUnused(b.ctx, before, time.UnixMilli(0), later, 10)
	b.must(err)
	if n != 1 {
		b.Errorf("dropped %d files, want 1", n)
	}
	stalled := b.upload(room, ann)
	whole := b.ready(room, ann, 2)
	b.must(b.files().CleanFile(b.ctx, room, whole.ID))
	n, err = b.files().DropUnused(b.ctx, time.UnixMilli(0), b.tick(), later.Add(time.Hour), 10)
	b.must(err)
	if n != 2 {
		b.Errorf("dropped %d files, want 2 of which nothing has come", n)
	}
	b.fileIs(stalled, files.Dropped, 0)
	b.fileIs(young, files.Dropped, 0)
	b.fileIs(whole, files.Ready, 0)
	b.fileIs(old, files.Dropped, 0)
	b.fileIs(sent, files.Ready, e.Seq)
	if ids := b.swept(); len(ids) != 0 {
		b.Errorf("swept %v before the time", ids)
	}
	b.now = later
	b.must(b.files().PutOffSweep(b.ctx, room, old.ID, later.Add(time.Second)))
	if ids := b.swept(); len(ids) != 0 {
		b.Errorf("swept %v, although it was put off", ids)
	}
	b.now = later.Add(time.Second)
	if ids := b.swept(); !slices.Equal(ids, []string{old.ID}) {
		b.Errorf("swept %v, want %s", ids, old.ID)
	}
	if gone, err := b.files().ForgetFile(b.ctx, room, sent.ID); err != nil || gone {
		b.Errorf("a file that is there was forgotten: %t, %v", gone, err)
	}
}

func fileOfDeletedRoom(b *storeBench) {
	room, kept := b.room(ann, bob), b.room(ann, bob)
	f, other := b.ready(room, ann, 1), b.ready(kept, ann, 1)
	b.change(b.wanted(chat.DeleteRoom, room, ann))
	for range 3 {
		_, _, err := b.books().DeletedRooms(b.ctx, "", 10)
		b.must(err)
	}
	b.fileIs(f, files.Dropped, 0)
	b.fileIs(other, files.Ready, 0)
}

func fileHeld(b *storeBench) {
	room := b.room(ann, bob)
	coming := b.upload(room, ann)
	b.refusedField(second(b.files().ReleaseFile(b.ctx, room, coming.ID)), chat.ErrConflict, "file")
	f := b.upload(room, ann)
	f.State, f.Hash, f.Folder = files.Held, []byte{1}, f.ID
	held, err := b.files().FinishFile(b.ctx, f, b.now)
	b.must(err)
	_, err = b.sendFiles(room, ann, held)
	b.refusedField(err, chat.ErrConflict, "files")
	for range 2 {
		released, err := b.files().ReleaseFile(b.ctx, room, f.ID)
		b.must(err)
		if released.State != files.Ready {
			b.Errorf("released: %s", released.State)
		}
	}
	_, err = b.sendFiles(room, ann, held)
	b.must(err)
	b.refused(second(b.files().ReleaseFile(b.ctx, room, "none")), chat.ErrNotFound)

	bobs := b.ready(room, bob, 2)
	elsewhere := b.ready(b.room(ann), ann, 3)
	listed := func(q files.Query) []string {
		return b.walked(1, func(next string) (ids []string, more string, err error) {
			q.Next, q.Limit = next, 1
			page, more, err := b.files().ListFiles(b.ctx, q)
			for _, f := range page {
				ids = append(ids, f.ID)
			}
			return ids, more, err
		})
	}
	for _, c := range []struct {
		q    files.Query
		want []string
	}{
		{files.Query{Room: room}, []string{bobs.ID, f.ID, coming.ID}},
		{files.Query{User: ann}, []string{elsewhere.ID, f.ID, coming.ID}},
		{files.Query{Room: room, User: ann}, []string{f.ID, coming.ID}},
	} {
		if got := listed(c.q); !slices.Equal(got, c.want) {
			b.Errorf("%+v: got %v, want %v", c.q, got, c.want)
		}
	}
	var all []string
	after := ""
	for {
		page, err := b.files().AllFiles(b.ctx, after, 2)
		b.must(err)
		if len(page) == 0 {
			break
		}
		for _, f := range page {
			all = append(all, f.ID)
		}
		after = page[len(page)-1].ID
	}
	if len(all) != 4 || !slices.IsSorted(all) {
		b.Errorf("all files: %v", all)
	}
}

func fileSearched(b *storeBench) {
	room := b.room(ann, bob)
	f := b.ready(room, ann, 1)
	e, err := b.sendFiles(room, ann, f)
	b.must(err)
	for range 2 { // without the index, and with it
		if got := b.searched("report", chat.Search{User: bob}, 10); !slices.Equal(got, []string{spot(e)}) {
			b.Errorf("found %v", got)
		}
		b.index(room)
	}
	b.must(second(b.Amend(b.ctx, b.amending(chat.KindRecall, room, ann, e.Seq))))
	if got := b.searched("report", chat.Search{User: bob}, 10); len(got) != 0 {
		b.Errorf("found %v after the recall", got)
	}
}

// textsWithFiles reads the texts of a room that have pictures, among others.
func textsWithFiles(b *storeBench) {
	room, other := b.room(ann, bob), b.room(ann)
	at := func(seq int64) *int64 { return &seq }
	picture := func(room string, n byte) files.Stored {
		b.Helper()
		f := b.uploadOf(chat.PictureFile, room, ann)
		return b.finish(f, n, f.ID)
	}
	send := func(room string, all ...files.Stored) int64 {
		b.Helper()
		e, err := b.sendFiles(room, ann, all...)
		b.must(err)
		return e.Seq
	}
	var pictures []int64
	for n := range byte(3) {
		b.say(room, bob)
		pictures = append(pictures, send(room, picture(room, 10*n), picture(room, 10*n+1), b.ready(room, ann, 10*n+2)))
		send(room, b.ready(room, ann, 10*n+3))
	}
	send(other, picture(other, 1))
	picture(room, 50) // not sent
	recalled, deleted := send(room, picture(room, 51)), picture(room, 52)
	b.must(second(b.Amend(b.ctx, b.amending(chat.KindRecall, room, ann, recalled))))
	send(room, deleted)
	b.must(b.files().DropFile(b.ctx, room, deleted.ID, b.now, files.DropAny))
	last := send(room, picture(room, 53))
	pictures = append(pictures, last)
	for _, test := range []struct {
		page chat.Page
		want []int64
		more bool
	}{
		{chat.Page{Limit: 2}, pictures[2:], true},
		{chat.Page{Limit: 4}, pictures, false},
		{chat.Page{Limit: 1, Before: at(pictures[1])}, pictures[:1], false},
		{chat.Page{Limit: 2, Before: at(last)}, pictures[1:3], true},
		{chat.Page{Limit: 2, After: at(pictures[0])}, pictures[1:3], true},
		{chat.Page{Limit: 3, After: at(pictures[0])}, pictures[1:], false},
		{chat.Page{Limit: 3, After: at(last)}, []int64{}, false},
		{chat.Page{Limit: 4, MaxBytes: 1}, []int64{last}, true},
	} {
		test.page.Files = chat.PictureFile
		found, more, err := b.History(b.ctx, room, test.page)
		b.must(err)
		if got := seqsOf(found); !slices.Equal(got, test.want) || more != test.more {
			b.Errorf("%+v: %v, more %v; want %v, %v", test.page, got, more, test.want, test.more)
		}
	}
	found, more, err := b.History(b.ctx, room, chat.Page{Files: chat.VoiceFile, Limit: 5})
	b.must(err)
	if len(found) > 0 || more {
		b.Errorf("recordings %v, more %v", seqsOf(found), more)
	}
}
