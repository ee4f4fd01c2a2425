package api

import (
	"context"

	"hongbao/chat"
	"hongbao/chat/files"
	"hongbao/web/convert"
	"hongbao/web/wire"
)

// fileLimits returns the limits of files: how many a text may have, and how many bytes a file and the uploads of a day may have. Without files all are
// 0; the last one is also 0 if there is no limit.
func (a *Commands) fileLimits() (count int, bytes, day int64) {
	if a.files == nil {
		return 0, 0, 0
	}
	return a.chat.Limits().Files, a.files.Limits().Bytes, a.fileDay
}

func (a *Commands) beginFile(ctx context.Context, c Caller, r *wire.BeginFileRequest) (wire.FileState, error) {
	if a.files == nil {
		return wire.FileState{}, files.ErrOff
	}
	u := files.Upload{Room: r.Room, Kind: chat.FileKind(r.Kind), Name: r.Name, Type: r.Type, Size: r.Size, DurationMS: r.DurationMS, Wave: r.Wave}
	if err := a.files.Check(u); err != nil {
		return wire.FileState{}, err
	}
	if err := a.rates.spendFile(ctx, c, r.Size, a.fileDay); err != nil {
		return wire.FileState{}, err
	}
	f, err := a.files.Begin(ctx, c.User, u)
	return convert.FileState(f), err
}

func (a *Commands) fileState(ctx context.Context, c Caller, r *wire.FileRequest) (wire.FileState, error) {
	if a.files == nil {
		return wire.FileState{}, files.ErrOff
	}
	f, err := a.files.Own(ctx, c.User.ID, r.Room, r.File)
	return convert.FileState(f), err
}

func (a *Commands) cancelFile(ctx context.Context, c Caller, r *wire.FileRequest) (wire.CancelFileReply, error) {
	if a.files == nil {
		return wire.CancelFileReply{}, files.ErrOff
	}
	return wire.CancelFileReply{}, a.files.Cancel(ctx, c.User.ID, r.Room, r.File)
}

func (a *Commands) fileLinks(ctx context.Context, c Caller, r *wire.FileLinksRequest) (wire.FileLinksReply, error) {
	if a.files == nil {
		return wire.FileLinksReply{}, files.ErrOff
	}
	queries, until, err := a.files.Links(ctx, c.User.ID, r.Room, r.Files)
	return wire.FileLinksReply{Queries: append([]string{}, queries...), Until: convert.Millis(until)}, err
}

// Receive stores content of an upload. It asks the host about a file that is whole, if the host wants that.
func (a *Commands) Receive(ctx context.Context, t files.Transfer) (wire.FileState, error) {
	if a.files == nil {
		return wire.FileState{}, files.ErrOff
	}
	if a.wants("file") {
		t.Judge = a.askFile
	}
	f, err := a.files.Receive(ctx, t)
	return convert.FileState(f), err
}

// askFile asks about a file.
func (a *Commands) askFile(ctx context.Context, user chat.User, f files.Stored) (hold bool, err error) {
	v, err := a.ask(ctx, Question{Command: "file", User: user, Room: f.Room, Request: convert.File(f.File), MayHold: true}, nil)
	return v.Hold, err
}

// Download returns a file for its reader: the user, or the bearer of a link, which has a mac.
func (a *Commands) Download(ctx context.Context, l files.Link, mac string, v files.Version) (files.Content, error) {
	if a.files == nil {
		return files.Content{}, files.ErrOff
	}
	if mac != "" {
		if err := a.files.Verify(l, mac); err != nil {
			return files.Content{}, err
		}
		if err := a.chat.CheckSuspended(ctx, l.User); err != nil {
			return files.Content{}, err
		}
	}
	if err := a.rates.take(ctx, "download:"+l.User, pictureRate, false); err != nil {
		return files.Content{}, err
	}
	return a.files.Open(ctx, l.User, l.Room, l.File, v)
}

const (
	kib = 1024 // the unit in which uploads are counted
	// leastCounted is what the smallest upload counts: a row and an object cost something, too.
	leastCounted = 64 * kib
)

// spendFile counts an upload against what its user may upload a day and, if the user is a guest, against what the guests of an address may.
func (r *Rates) spendFile(ctx context.Context, c Caller, size, day int64) error {
	if r.local == nil || day == 0 {
		return nil
	}
	rate := func(times int64) chat.Rate {
		burst := int(max(day*times/kib, 1))
		return chat.Rate{PerSecond: float64(burst) / (24 * 3600), Burst: burst, Cost: int(min((max(size, leastCounted)+kib-1)/kib, int64(burst)))}
	}
	if err := r.take(ctx, "files:"+c.User.ID, rate(1), true); err != nil || c.Address == "" {
		return err
	}
	return r.take(ctx, "files:"+c.Address, rate(guestsOfAddress), true)
}

// guestsOfAddress is how many times what one user may upload the guests of an address may upload together.
const guestsOfAddress = 3
