package files

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"hongbao/chat"
	"hongbao/chat/media"
	"hongbao/redpacket/crashpoint"
	"hongbao/redpacket/keylock"
)

const (
	// PieceBytes is how much of an upload is stored at a time. A connection that breaks loses less than that.
	PieceBytes = 256 << 10
	// PictureBytes is the size of the largest picture, if Limits.Bytes is not less.
	PictureBytes = 20 << 20
	// VoiceBytes is the size of the largest recording, if Limits.Bytes is not less.
	VoiceBytes = 4 << 20
	// VoiceTime is the longest recording.
	VoiceTime = 2 * time.Minute
	// WavePoints is the most points of a recording's Wave.
	WavePoints = 64
	// UnsentFor is how long a file without an entry is kept.
	UnsentFor = 24 * time.Hour
	// StalledFor is how long an upload is kept of which nothing comes: its bytes count to those of all files.
	StalledFor = time.Hour
	// ComingAtOnce is the most uploads of a user that are begun and not whole: their bytes count before they come.
	ComingAtOnce = 20
	// DropGrace is how long the objects of a dropped file are left alone that may still be coming. It is longer than Receive can take after its
	// last look at the row.
	DropGrace = 10 * time.Minute
	// MostBytes is the largest Limits.Bytes: such a file can be processed within DropGrace.
	MostBytes = 1 << 30
	// An upload may be processed for finishTime, and pieceTime longer for each of its pieces.
	pieceTime      = 100 * time.Millisecond
	finishTime     = 2 * time.Minute
	nameBytes      = 255
	typeBytes      = 100
	picturesAtOnce = 1               // pictures that one instance processes at a time: a large one takes some hundred megabytes
	pictureWait    = 5 * time.Minute // how long a picture waits for its turn
)

// ErrOff is the answer of a server that has no object store.
var ErrOff = &chat.FieldError{Err: chat.ErrNotFound, Field: "file", Reason: "cannot be stored: this server has no files"}

// TooManyComing returns the error of Begin for a user with ComingAtOnce uploads.
func TooManyComing() error {
	return &chat.FieldError{Err: chat.ErrLimitExceeded, Field: "file", Reason: fmt.Sprintf("cannot be begun: %d others are not uploaded whole; finish or cancel one", ComingAtOnce), Limit: ComingAtOnce}
}

// Limits are those of uploads.
type Limits struct {
	Bytes int64 // of one file
	Total int64 // of all files together, as Stored.Counted counts them; 0: any number
}

// Rooms is the part of chat.Service that files need.
type Rooms interface {
	CheckRead(ctx context.Context, room, user string) error
	StoredStanding(ctx context.Context, room, user string) (chat.Standing, error)
}

// Judge asks the host about a file that is uploaded whole. hold means that the file is not to be sent before the host releases it. An error refuses the
// file.
type Judge func(ctx context.Context, user chat.User, f Stored) (hold bool, err error)

// Options configures a Service.
type Options struct {
	Limits Limits
	Key    []byte // signs links; the same on all instances
	Now    func() time.Time
	Log    *slog.Logger
}

// Service carries out what users and the host do with files.
type Service struct {
	// static after New
	rows     Rows
	objects  *meteredObjects
	rooms    Rooms
	o        Options
	counters *counters

	pictures pictureTurns
}

// New returns a Service.
func New(rows Rows, objects Objects, rooms Rooms, o Options) *Service {
	if o.Now == nil {
		o.Now = time.Now
	}
	o.Log = cmp.Or(o.Log, slog.Default())
	return &Service{rows: rows, objects: newMeteredObjects(objects), rooms: rooms, o: o, counters: newCounters(), pictures: pictureTurns{all: keylock.Locks{Holders: picturesAtOnce}}}
}

// Limits returns the limits that the service applies.
func (s *Service) Limits() Limits { return s.o.Limits }

// Upload is what a client says about a file before it sends the content.
type Upload struct {
	Room       string
	Kind       chat.FileKind
	Name       string
	Type       string // media type, of a file of the kind OtherFile
	Size       int64
	DurationMS int64  // of a recording
	Wave       string // of a recording
}

func (u Upload) check(l Limits) error {
	most := l.Bytes
	switch u.Kind {
	case chat.PictureFile:
		most = min(most, PictureBytes)
	case chat.VoiceFile:
		most = min(most, VoiceBytes)
		if u.DurationMS < 1 || u.DurationMS > VoiceTime.Milliseconds() {
			return chat.BadField("duration_ms", fmt.Sprintf("must be 1 to %d", VoiceTime.Milliseconds()))
		}
		if wave, err := base64.StdEncoding.DecodeString(u.Wave); err != nil || len(wave) > WavePoints {
			return chat.BadField("wave", fmt.Sprintf("must be base64 of at most %d bytes", WavePoints))
		}
	case chat.OtherFile:
		if u.Name == "" {
			return chat.BadField("name", "is missing")
		}
	default:
		return chat.BadField("kind", "must be picture, voice or file")
	}
	if u.Kind != chat.VoiceFile && (u.DurationMS != 0 || u.Wave != "") {
		return chat.BadField("duration_ms", "and wave are only for a recording")
	}
	switch {
	case u.Size < 1:
		return chat.BadField("size", "must be at least 1")
	case u.Size > most:
		return &chat.FieldError{Err: chat.ErrTooLong, Field: "size", Reason: fmt.Sprintf("must be at most %d bytes", most), Limit: int(most)}
	}
	if err := checkType(u.Type); err != nil {
		return err
	}
	return checkFileName(u.Name)
}

// checkType returns an error unless the text has the form of a media type without parameters, or is empty.
func checkType(text string) error {
	main, sub, found := strings.Cut(text, "/")
	part := func(s string) bool {
		return s != "" && strings.Trim(strings.ToLower(s), "abcdefghijklmnopqrstuvwxyz0123456789.+-_") == ""
	}
	if text != "" && (!found || len(text) > typeBytes || !part(main) || !part(sub)) {
		return chat.BadField("type", "must be a media type such as application/pdf")
	}
	return nil
}

// checkFileName returns an error if the name is a path, or shows something else than it is.
func checkFileName(name string) error {
	switch {
	case len(name) > nameBytes:
		return &chat.FieldError{Err: chat.ErrTooLong, Field: "name", Reason: fmt.Sprintf("must have at most %d bytes", nameBytes), Limit: nameBytes}
	case !utf8.ValidString(name):
		return chat.BadField("name", "must be UTF-8")
	case strings.ContainsAny(name, `/\`), name == ".", name == "..":
		return chat.BadField("name", "must not be a path")
	case strings.ContainsFunc(name, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }):
		return chat.BadField("name", "must not hold control characters")
	case name != "" && strings.TrimSpace(name) != name:
		return chat.BadField("name", "must not begin or end with a space")
	}
	return nil
}

// Check returns an error if an upload is wrong in itself. Begin returns the same error.
func (s *Service) Check(u Upload) error { return u.check(s.o.Limits) }

// Begin begins an upload. The content follows by Receive.
func (s *Service) Begin(ctx context.Context, user chat.User, u Upload) (Stored, error) {
	f, err := s.begin(ctx, user, u)
	if err == nil {
		s.counters.upload(uploadBegun)
	} else {
		s.counters.uploadError(err)
	}
	return f, err
}

func (s *Service) begin(ctx context.Context, user chat.User, u Upload) (Stored, error) {
	if err := u.check(s.o.Limits); err != nil {
		return Stored{}, err
	}
	now := s.o.Now()
	st, err := s.rooms.StoredStanding(ctx, u.Room, user.ID)
	if err == nil {
		err = st.MaySend(now)
	}
	if err != nil {
		return Stored{}, err
	}
	f := Stored{
		File: chat.File{
			ID: chat.NewID(now), Kind: u.Kind, Name: norm.NFC.String(u.Name), Type: strings.ToLower(u.Type), Size: u.Size, DurationMS: u.DurationMS, Wave: u.Wave,
		},
		Room: u.Room, User: user.ID, At: now, State: Coming, Upload: u.Size,
	}
	return f, s.rows.AddFile(ctx, f, s.o.Limits.Total)
}

// Own returns a file that the user has uploaded.
func (s *Service) Own(ctx context.Context, user, room, id string) (Stored, error) {
	f, err := s.rows.StoredFile(ctx, room, id)
	if err == nil && (f.User != user || f.State == Dropped || f.State == Removed) {
		err = chat.ErrNotFound
	}
	return f, err
}

// Transfer is a request that brings content of an upload.
type Transfer struct {
	User       chat.User
	Room, File string
	Offset     int64
	Content    io.Reader // from the offset on
	More       func()    // called before each piece is read
	Judge      Judge     // nil: the host is not asked
}

// Receive stores the content of an upload, and processes the upload when it is whole. The content may end early: what has come in whole pieces stays, and
// the upload goes on from there. It returns the file as it is then.
func (s *Service) Receive(ctx context.Context, t Transfer) (Stored, error) {
	f, err := s.Own(ctx, t.User.ID, t.Room, t.File)
	if err != nil || f.State != Coming {
		return f, err
	}
	if t.Offset != f.Received {
		return Stored{}, &chat.FieldError{Err: chat.ErrConflict, Field: "offset", Reason: fmt.Sprintf("must be %d", f.Received)}
	}
	var piece bytes.Buffer
	for f.Received < f.Upload {
		t.More()
		want := min(PieceBytes, f.Upload-f.Received)
		piece.Reset()
		switch n, err := io.Copy(&piece, io.LimitReader(t.Content, want)); {
		case err != nil:
			s.counters.upload(uploadCut)
			return Stored{}, fmt.Errorf("%w: read an upload: %w", chat.ErrUnavailable, err)
		case n == 0:
			return f, nil
		case n < want:
			s.counters.upload(uploadInvalid)
			return Stored{}, chat.BadField("content", fmt.Sprintf("must end with the file, or after a multiple of %d bytes", PieceBytes))
		}
		crashpoint.Here("file.before-piece")
		if err := s.objects.Put(ctx, f.piece(f.Received), &piece, want); err != nil {
			s.counters.uploadError(err)
			return Stored{}, err
		}
		crashpoint.Here("file.after-piece")
		to := f.Received + want
		if err := s.rows.AdvanceFile(ctx, f, to, s.o.Now()); err != nil {
			s.counters.uploadError(err)
			return Stored{}, errors.Join(err, s.removeLatePiece(ctx, f, err))
		}
		s.counters.received.Add(want)
		f.Received = to
	}
	if n, _ := io.CopyN(io.Discard, t.Content, 1); n > 0 {
		s.counters.upload(uploadInvalid)
		return Stored{}, chat.BadField("content", "is longer than the size that was told")
	}
	return s.finish(ctx, t, f)
}

// removeLatePiece removes a piece that was stored after another request has processed the upload. refused is why the piece is not one of the upload. If the
// upload ends otherwise, the sweep removes its pieces.
func (s *Service) removeLatePiece(ctx context.Context, f Stored, refused error) error {
	if !errors.Is(refused, chat.ErrConflict) {
		return nil
	}
	now, err := s.rows.StoredFile(ctx, f.Room, f.ID)
	if err != nil || now.State == Coming {
		return err
	}
	return s.objects.Delete(ctx, f.piece(f.Received))
}

// piece returns the name of the object with the part of an upload that begins at the offset.
func (f Stored) piece(offset int64) string {
	return f.ID + "/piece-" + strconv.FormatInt(offset/PieceBytes, 10)
}

// pieces returns the names of all parts of an upload.
func (f Stored) pieces() (names []string) {
	for offset := int64(0); offset < f.Upload; offset += PieceBytes {
		names = append(names, f.piece(offset))
	}
	return names
}

// object returns the name of the object with a version of the file.
func (f Stored) object(v Version) string {
	name := f.Folder + "/" + hex.EncodeToString(f.Hash)
	if v != Original {
		name += "." + string(v)
	}
	return name
}

// pictureTurns bounds how many pictures are processed at a time. One picture of a user waits with those of others, so users take turns.
type pictureTurns struct{ users, all keylock.Locks }

// wait waits for the turn of a picture of the user. The caller must call end when the picture is processed.
func (p *pictureTurns) wait(ctx context.Context, user string) (end func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, pictureWait)
	defer cancel()
	endUser, err := p.users.Lock(ctx, user)
	if err != nil {
		return nil, fmt.Errorf("%w: too many pictures of one user: %w", chat.ErrUnavailable, err)
	}
	endAll, err := p.all.Lock(ctx, "")
	if err != nil {
		endUser()
		return nil, fmt.Errorf("%w: too many pictures: %w", chat.ErrUnavailable, err)
	}
	return sync.OnceFunc(func() {
		endAll()
		endUser()
	}), nil
}

// finish processes an upload that is whole.
func (s *Service) finish(ctx context.Context, t Transfer, f Stored) (Stored, error) {
	end := func() {}
	if f.Kind == chat.PictureFile {
		var err error
		if end, err = s.pictures.wait(ctx, f.User); err != nil {
			s.counters.upload(uploadFailed)
			return Stored{}, err
		}
		defer end()
		if f, err = s.Own(ctx, f.User, f.Room, f.ID); err != nil || f.State != Coming { // it was cancelled or finished meanwhile
			return f, err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, finishTime+time.Duration(f.Upload/PieceBytes)*pieceTime)
	defer cancel()
	made, err := s.make(ctx, &f)
	end()
	return s.finished(ctx, t, f, made, err)
}

// finished stores what make has returned, and finishes the file. A file that the server or the host refuses is dropped.
func (s *Service) finished(ctx context.Context, t Transfer, f Stored, made []content, err error) (Stored, error) {
	done := Stored{}
	if err == nil {
		done, err = s.process(ctx, t, f, made)
	}
	switch {
	case err == nil:
		if done.State == Held {
			s.counters.upload(uploadHeld)
		} else {
			s.counters.upload(uploadReady)
		}
		s.clean(ctx, done)
		return done, nil
	case errors.Is(err, chat.ErrUnavailable), errors.Is(err, ErrData), ctx.Err() != nil:
		if f, again := s.Own(ctx, f.User, f.Room, f.ID); again == nil && f.State != Coming { // another request has finished it
			return f, nil
		}
		s.counters.upload(uploadFailed)
		return Stored{}, err
	}
	if denied := new(deniedError); errors.As(err, &denied) {
		s.counters.upload(uploadDenied)
		err = denied.error
	} else {
		s.counters.uploadError(err)
	}
	failed := s.rows.DropFile(ctx, f.Room, f.ID, s.o.Now().Add(DropGrace), DropComing)
	if errors.Is(failed, chat.ErrConflict) { // another request has finished it
		return s.Own(ctx, f.User, f.Room, f.ID)
	}
	return Stored{}, errors.Join(err, failed)
}

// clean removes the parts of an upload that was processed. What fails, the sweep repeats.
func (s *Service) clean(ctx context.Context, f Stored) {
	err := s.objects.Delete(ctx, f.pieces()...)
	if err == nil {
		err = s.rows.CleanFile(ctx, f.Room, f.ID)
	}
	if err != nil {
		s.o.Log.Warn("parts of an upload not removed yet", "room", f.Room, "file", f.ID, "err", err)
	}
}

// deniedError is the error with which the host has refused a file.
type deniedError struct{ error }

func (e *deniedError) Unwrap() error { return e.error }

func (s *Service) process(ctx context.Context, t Transfer, f Stored, made []content) (_ Stored, err error) {
	if f.State = Ready; t.Judge != nil {
		hold, err := t.Judge(ctx, t.User, f)
		if err != nil {
			return Stored{}, &deniedError{err}
		}
		if hold {
			f.State = Held
		}
	}
	if f.Folder, err = s.rows.FolderOf(ctx, f); err != nil {
		return Stored{}, err
	}
	if f.Folder != "" {
		done, err := s.rows.FinishFile(ctx, f, s.o.Now())
		if !errors.Is(err, chat.ErrConflict) {
			return done, err
		}
	}
	f.Folder = f.ID
	for _, v := range made {
		crashpoint.Here("file.before-object")
		if err := v.put(ctx, s.objects, f.object(v.version)); err != nil {
			return Stored{}, err
		}
	}
	crashpoint.Here("file.before-finish")
	done, err := s.rows.FinishFile(ctx, f, s.o.Now())
	crashpoint.Here("file.after-finish")
	return done, err
}

// content is a version of a file that is to be stored.
type content struct {
	version Version
	size    int64
	open    func() io.ReadCloser
}

// stored returns content that is in memory.
func stored(v Version, data []byte) content {
	return content{v, int64(len(data)), func() io.ReadCloser { return io.NopCloser(bytes.NewReader(data)) }}
}

func (c content) put(ctx context.Context, objects Objects, name string) error {
	data := c.open()
	defer func() { _ = data.Close() }()
	return objects.Put(ctx, name, data, c.size)
}

// make completes the file by what its content is, and returns the contents to be stored.
func (s *Service) make(ctx context.Context, f *Stored) ([]content, error) {
	whole := content{Original, f.Upload, func() io.ReadCloser { return &verified{s.whole(ctx, *f), sha256.New(), f.Upload, f.Hash} }}
	if f.Kind == chat.OtherFile {
		sum := sha256.New()
		if _, err := io.Copy(sum, s.whole(ctx, *f)); err != nil {
			return nil, err
		}
		f.Type, f.Hash = cmp.Or(f.Type, "application/octet-stream"), sum.Sum(nil)
		return []content{whole}, nil
	}
	upload, err := io.ReadAll(s.whole(ctx, *f))
	if err != nil {
		return nil, err
	}
	if f.Kind == chat.VoiceFile {
		sum := sha256.Sum256(upload)
		f.Hash = sum[:]
		f.Type, err = media.Voice(upload)
		return []content{stored(Original, upload)}, err
	}
	return s.makePicture(ctx, f, upload)
}

// makePicture completes the file by the picture that is made of the upload.
func (s *Service) makePicture(ctx context.Context, f *Stored, upload []byte) (all []content, err error) {
	p, err := media.Picture(ctx, upload)
	if err != nil {
		return nil, err
	}
	f.Type, f.Width, f.Height, f.Blur = p.Type, p.Width, p.Height, p.Blur
	for n, data := range [][]byte{p.Original, p.Middle, p.Small} {
		if data == nil {
			continue
		}
		v := []Version{Original, Middle, Small}[n]
		sum := sha256.Sum256(data)
		if v == Original {
			f.Hash, f.Size = sum[:], int64(len(data))
		} else {
			f.Made = append(f.Made, Made{Version: v, Type: p.PreviewType, Size: int64(len(data)), Hash: sum[:]})
		}
		all = append(all, stored(v, data))
	}
	return all, nil
}

// verified reads an upload again. Its last bytes come only if the whole has the hash: another request may have stored another piece meanwhile.
type verified struct {
	io.ReadCloser

	hash hash.Hash
	left int64
	want []byte
}

func (v *verified) Read(p []byte) (int, error) {
	n, err := v.ReadCloser.Read(p)
	v.hash.Write(p[:n])
	if v.left -= int64(n); n > 0 && v.left <= 0 && !bytes.Equal(v.hash.Sum(nil), v.want) {
		return 0, fmt.Errorf("%w: the upload has changed while it was processed", chat.ErrConflict)
	}
	return n, err
}

// whole returns the content of an upload, put together from its parts.
func (s *Service) whole(ctx context.Context, f Stored) io.ReadCloser {
	return &joined{ctx: ctx, objects: s.objects, names: f.pieces()}
}

// joined reads objects one after the other.
type joined struct {
	ctx     context.Context
	objects Objects
	names   []string // that are not opened yet
	open    io.ReadCloser
}

func (j *joined) Read(p []byte) (int, error) {
	for {
		if j.open == nil {
			if len(j.names) == 0 {
				return 0, io.EOF
			}
			var err error
			if j.open, _, err = j.objects.Get(j.ctx, j.names[0], 0); err != nil {
				return 0, missing(err)
			}
			j.names = j.names[1:]
		}
		n, err := j.open.Read(p)
		if errors.Is(err, io.EOF) {
			err = j.Close()
		}
		if n > 0 || err != nil {
			return n, err
		}
	}
}

// missing returns the error of an object that must be there.
func missing(err error) error {
	if errors.Is(err, chat.ErrNotFound) {
		return fmt.Errorf("%w: the object store has lost an object", chat.ErrUnavailable)
	}
	return err
}

func (j *joined) Close() (err error) {
	if j.open != nil {
		err = j.open.Close()
	}
	j.open = nil
	return err
}

// Cancel drops a file that the user has uploaded and not sent.
func (s *Service) Cancel(ctx context.Context, user, room, id string) error {
	if _, err := s.Own(ctx, user, room, id); err != nil {
		return err
	}
	return s.rows.DropFile(ctx, room, id, s.o.Now().Add(DropGrace), DropUnsent)
}
