package api

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"hongbao/chat"
	"hongbao/chat/files"
	"hongbao/redpacket"
	"hongbao/web/convert"
	"hongbao/web/wire"
	"hongbao/web/wire/strict"
)

// ErrUnknownCommand is returned for a request whose method does not exist.
var ErrUnknownCommand = errors.New("unknown command")

// Caller is the user that calls a command.
type Caller struct {
	User    chat.User
	Admin   bool
	Person  string // who the user is, as the host knows it: see auth.Identity; "": a person of their own
	Address string // whose rates and budget the commands count against, too; "": none, as for users of the host
}

// Config holds the services and callbacks that Commands uses. Chat, Packets, Rates and Connected must be set.
type Config struct {
	Chat      *chat.Service
	Packets   *redpacket.Service
	Rates     *Rates
	Connected func(user string) bool // reports whether the user has a socket on this instance
	Scans     int                    // how many commands that scan may run at once; default 2
	ScanWait  time.Duration          // bound of the expected wait of a scan; beyond it some scans are refused; 0: no bound
	Log       *slog.Logger

	ContactRates ContactRates
	Hooks        Hooks // nil: the host is asked about no command
	Push         Push
	Files        *files.Service // nil: there are no files
	FileDay      int64          // bytes that a user may upload a day

	// Refused is told of each grab that got no share: err, or why there was none. It must not block. nil: nobody is told.
	Refused func(user, packet string, why redpacket.Outcome, err error)
}

// Commands runs the commands that users may call.
type Commands struct {
	chat      *chat.Service
	packets   *redpacket.Service
	rates     *Rates
	connected func(user string) bool
	scans     *scans
	searches  *scans // beside scans: a search waits for both
	log       *slog.Logger

	contactRates ContactRates
	hooks        Hooks // nil: none
	push         Push
	files        *files.Service // nil: none
	fileDay      int64
	refused      func(user, packet string, why redpacket.Outcome, err error) // nil: none
}

// New returns Commands that use the services of the Config.
func New(c Config) *Commands {
	return &Commands{
		chat: c.Chat, packets: c.Packets, rates: c.Rates, connected: c.Connected, contactRates: c.ContactRates, hooks: c.Hooks, push: c.Push, scans: newScans(cmp.Or(c.Scans, 2), c.ScanWait),
		searches: newScans(searchesAtOnce, c.ScanWait),
		log:      cmp.Or(c.Log, slog.Default()), files: c.Files, fileDay: c.FileDay, refused: c.Refused,
	}
}

// Answer runs a request and returns the reply, which package wire encodes. Call it once per request, and for a request that
// scans only after Begin.
func (a *Commands) Answer(ctx context.Context, c Caller, r *Request) (reply any, err error) {
	if r.command == nil {
		return nil, ErrUnknownCommand
	}
	if err := a.spend(ctx, c, r); err != nil {
		if g, ok := r.grab(); ok {
			g.refuse(a, c.User.ID, "", err)
		}
		return nil, err
	}
	if err := r.decode(); err != nil {
		return nil, err
	}
	return r.call.answer(ctx, a, c)
}

// spend counts a request against its user's rate or budget, and a guest's address (see Rates.spend). Further calls for the request
// do nothing.
func (a *Commands) spend(ctx context.Context, c Caller, r *Request) error {
	if r.spent {
		return nil
	}
	r.spent = true
	return a.rates.spend(ctx, c, r.method)
}

// Request is a command as the client sent it: a method and its data. The data is decoded at most once.
type Request struct {
	method  string
	data    []byte
	command *command // nil: the method is unknown
	call    call     // nil: the data is not decoded, or invalid
	fault   error    // the error of decoding the data
	spent   bool     // it was counted against its user's rate or budget
}

// NewRequest returns a request without decoding its data. If the data is invalid, Commands.Answer returns the error.
func NewRequest(method string, data []byte) Request {
	return Request{method: method, data: data, command: commands[method]}
}

// Name returns the method's name for metrics. It is "unknown" for a method that does not exist.
func (r *Request) Name() string { return KnownMethod(r.method) }

// Overlaps reports whether the request may run concurrently with any other requests of its connection. If not, it must not
// start before the earlier requests that do not overlap either are answered.
func (r *Request) Overlaps() bool { return r.command != nil && r.command.overlaps }

// Scans reports whether the request must wait for Commands.Begin, because it reads very many rows.
func (r *Request) Scans() bool { return r.command != nil && r.command.scans }

// decode decodes the data. A further call returns the first result.
func (r *Request) decode() error {
	if r.call == nil && r.fault == nil {
		c := r.command.new()
		if r.fault = c.decode(r.data); r.fault == nil {
			r.call = c
		}
	}
	return r.fault
}

// Decode decodes a request's data into a request type. Its errors are those that Commands.Answer returns for invalid
// data.
func Decode(data []byte, into any) error {
	err := strict.Decode(data, into)
	if err == nil {
		return nil
	}
	var bad *strict.Error
	if errors.As(err, &bad) {
		return chat.BadField(bad.Field, bad.Reason)
	}
	return err
}

// call is a decoded request with its handler and space for its reply, in one allocation.
type call interface {
	decode(data []byte) error
	answer(ctx context.Context, a *Commands, c Caller) (reply any, err error)
}

// command describes one method.
type command struct {
	new      func() call
	overlaps bool
	scans    bool // it reads very many rows, so few run at once
	searches bool // it may take long even so, so one of a user runs at once
}

// ordered returns a command that changes data. Ordered commands of one connection run one after the other, in the order in
// which the client sent them.
func ordered[Request, Reply any](run func(*Commands, context.Context, Caller, *Request) (Reply, error)) *command {
	return &command{new: func() call { return &typedCall[Request, Reply]{run: run} }}
}

// overlapping returns a command that may run concurrently with any other commands of its connection.
func overlapping[Request, Reply any](run func(*Commands, context.Context, Caller, *Request) (Reply, error)) *command {
	c := ordered(run)
	c.overlaps = true
	return c
}

// scanning returns an overlapping command that reads very many rows.
func scanning[Request, Reply any](run func(*Commands, context.Context, Caller, *Request) (Reply, error)) *command {
	c := overlapping(run)
	c.scans = true
	return c
}

// searching returns a scanning command of which one of a user runs at once.
func searching[Request, Reply any](run func(*Commands, context.Context, Caller, *Request) (Reply, error)) *command {
	c := scanning(run)
	c.searches = true
	return c
}

// typedCall implements call for one pair of request and reply types.
type typedCall[Request, Reply any] struct {
	run     func(*Commands, context.Context, Caller, *Request) (Reply, error)
	request Request
	reply   Reply
}

func (t *typedCall[Request, Reply]) decode(data []byte) error { return Decode(data, &t.request) }

func (t *typedCall[Request, Reply]) answer(ctx context.Context, a *Commands, c Caller) (reply any, err error) {
	t.reply, err = t.run(a, ctx, c, &t.request)
	return &t.reply, err
}

// MethodGrab is the name of the method grab. Transports handle it specially: a grab continues when its context ends.
const MethodGrab = "grab"

// commands holds every method that users may call, by name.
var commands = map[string]*command{
	"create_room": ordered((*Commands).createRoom),
	"direct":      ordered((*Commands).direct),
	"block":       ordered((*Commands).block),
	"unblock":     ordered((*Commands).unblock),
	"set_contact": ordered((*Commands).setContact),
	"contacts":    overlapping((*Commands).contacts),
	"users":       scanning((*Commands).users),
	"join":        ordered((*Commands).join),
	"leave":       ordered((*Commands).leave),
	"rooms":       scanning((*Commands).rooms),
	"find_rooms":  scanning((*Commands).findRooms),
	"members":     scanning((*Commands).members),
	"presence":    overlapping((*Commands).presence),

	"invite":      ordered((*Commands).invite),
	"create_link": ordered((*Commands).createLink),
	"links":       overlapping((*Commands).links),
	"revoke_link": ordered((*Commands).revokeLink),
	"join_link":   ordered((*Commands).joinLink),

	"join_requests":  overlapping((*Commands).joinRequests),
	"answer_request": ordered((*Commands).answerRequest),
	"rules":          overlapping((*Commands).rules),
	"set_rules":      ordered((*Commands).setRules),
	"held_texts":     overlapping((*Commands).heldTexts),
	"answer_text":    ordered((*Commands).answerText),

	"kick":        ordered((*Commands).kick),
	"unban":       ordered((*Commands).unban),
	"set_role":    ordered((*Commands).setRole),
	"mute":        ordered((*Commands).mute),
	"update_room": ordered((*Commands).updateRoom),
	"delete_room": ordered((*Commands).deleteRoom),

	"set_room_prefs": ordered((*Commands).setRoomPrefs),

	"push_key":         overlapping((*Commands).pushKey),
	"subscribe_push":   ordered((*Commands).subscribePush),
	"unsubscribe_push": ordered((*Commands).unsubscribePush),

	"send":     ordered((*Commands).send),
	"edit":     ordered((*Commands).edit),
	"recall":   ordered((*Commands).recall),
	"react":    ordered((*Commands).react),
	"history":  scanning((*Commands).history),
	"mentions": scanning((*Commands).mentions),
	"search":   searching((*Commands).search),
	"report":   ordered((*Commands).report),
	"reports":  overlapping((*Commands).reports),
	"appeal":   ordered((*Commands).appeal),

	"begin_file":  ordered((*Commands).beginFile),
	"file_state":  overlapping((*Commands).fileState),
	"cancel_file": ordered((*Commands).cancelFile),
	"file_links":  overlapping((*Commands).fileLinks),

	"read": ordered((*Commands).read),

	"send_packet":   ordered((*Commands).sendPacket),
	MethodGrab:      {new: func() call { return new(grabCall) }, overlaps: true}, // it does not depend on earlier commands
	"packet":        scanning((*Commands).packet),
	"cancel_packet": ordered((*Commands).cancelPacket),
	"packets":       scanning((*Commands).listPackets),
	"room_packets":  scanning((*Commands).roomPackets),
	"wallet":        overlapping((*Commands).wallet),

	"set_own_limits": ordered((*Commands).setOwnLimits),
}

// KnownMethod returns the method's name if the method exists, else "unknown". So clients cannot fill the memory of the
// metrics with invented names.
func KnownMethod(method string) string {
	if commands[method] == nil {
		return "unknown"
	}
	return method
}

// Methods returns the names of all methods, in no particular order.
func Methods() []string {
	names := make([]string, 0, len(commands))
	for name := range commands {
		names = append(names, name)
	}
	return names
}

// userRates holds the rate of each command that has one (wire.Rates). They are per user and over all instances; for the rate of grab
// see freeGrabs.
var userRates = func() map[string]userRate {
	rates := map[string]userRate{}
	for _, m := range wire.Methods {
		for _, r := range wire.Rates {
			if r.Name == m.Rate {
				rates[m.Name] = userRate{r.Name, chat.Rate{PerSecond: r.PerSecond, Burst: r.Burst}}
			}
		}
	}
	return rates
}()

// userRate is a rate of one or more commands, which count together under its name.
type userRate struct {
	name string
	rate chat.Rate
}

// Limits for all commands together: of one connection, and of one user over HTTP, where there is no connection.
const (
	CommandsPerSecond = 50
	CommandBurst      = 100
)

// The limit for grabs has two parts. Each instance allows the free part without a call to the shared limiter, so that
// users that grab once cost no extra call. All instances together allow the shared part. One instance allows exactly the
// limit of the protocol (userRates); n instances allow the free part n-1 times more. While the shared limiter cannot be reached,
// each instance allows the whole limit.
var (
	freeGrabs   = chat.Rate{PerSecond: 5, Burst: 10}
	sharedGrabs = chat.Rate{PerSecond: 15, Burst: 30}
)

// guestRate limits the requests for new guests and the attempts to redeem a device code from one address. previewRate limits the
// previews of invite links and public rooms.
var (
	guestRate   = chat.Rate{PerSecond: 2, Burst: 100}
	previewRate = chat.Rate{PerSecond: 2, Burst: 100}
)

// uploadRate limits how often the guests of one address upload or remove a picture. pictureRate limits how many pictures are read
// from one address, and how many files by one user; browsers cache each of them.
var (
	uploadRate  = chat.Rate{PerSecond: 0.1, Burst: 30}
	pictureRate = chat.Rate{PerSecond: 20, Burst: 500}
)

// guestChangeRate limits the changes of a user's picture, of a guest's profile, and the new device codes of a guest. Each
// is a write, and the changes are notices to all instances, too.
var guestChangeRate = chat.Rate{PerSecond: 0.2, Burst: 10}

const (
	sharedTimeout = 100 * time.Millisecond // timeout of a call to the shared limiter; after a timeout the request is allowed
	sharedPause   = time.Second            // after a failed call, how long the shared limiter is not called
)

// Rates limits the commands, connects and HTTP requests of users and addresses. It asks the limiter of this instance first,
// because a refusal there needs no call to the shared limiter. The zero value limits nothing. An address is an IPv4 address, or the
// /64 of an IPv6 address: the callers pass it in this form.
type Rates struct {
	// static
	local  chat.Limiter // nil: nothing is limited
	shared chat.Limiter // nil: this is the only instance
	now    func() time.Time
	start  time.Time
	log    *slog.Logger

	pausedUntil atomic.Int64 // in nanoseconds since start; until then the shared limiter is not called
	exhausted   atomic.Int64 // in nanoseconds since start; when it was last logged that an address has used up its budget; 0: never
}

// NewRates returns Rates that count with the limiter local on this instance and with the limiter shared over all
// instances. If local is nil, nothing is limited. If shared is nil, this is the only instance.
func NewRates(local, shared chat.Limiter, now func() time.Time, log *slog.Logger) *Rates {
	return &Rates{local: local, shared: shared, now: now, start: now(), log: log}
}

// spend counts a command against its user's rate. If the method has no rate, it takes the method's cost from the budgets of the
// user and of a guest's address. It returns a *chat.RateError if a rate or budget is exceeded. A grab is
// counted on this instance only, because most grabs are answered from memory; see admitGrab.
func (r *Rates) spend(ctx context.Context, c Caller, method string) error {
	if r.local == nil {
		return nil
	}
	counted, limited := userRates[method]
	if !limited {
		return r.spendBudget(ctx, c, costs[method])
	}
	return r.take(ctx, counted.name+":"+c.User.ID, counted.rate, counted.name != MethodGrab)
}

// SpendHTTP counts any command over HTTP against its user's limit. Each instance counts for itself.
func (r *Rates) SpendHTTP(ctx context.Context, user string) error {
	return r.take(ctx, "commands:"+user, chat.Rate{PerSecond: CommandsPerSecond, Burst: CommandBurst}, false)
}

// SpendGuest counts a request for a new guest, or an attempt to redeem a device code, against the limit of the address that it
// comes from.
func (r *Rates) SpendGuest(ctx context.Context, address string) error {
	return r.take(ctx, "guest:"+address, guestRate, true)
}

// SpendProfileChange counts a change of a user's picture, of a guest's profile, or a new device code, against the user's limit.
func (r *Rates) SpendProfileChange(ctx context.Context, user string) error {
	return r.take(ctx, "change:"+user, guestChangeRate, true)
}

// SpendUpload counts a guest's upload or removal of a picture against the limit of the address that it comes from.
func (r *Rates) SpendUpload(ctx context.Context, address string) error {
	return r.take(ctx, "upload:"+address, uploadRate, true)
}

// SpendPicture counts the read of a picture against the limit of the address that asks. Each instance counts for itself.
func (r *Rates) SpendPicture(ctx context.Context, address string) error {
	return r.take(ctx, "picture:"+address, pictureRate, false)
}

// leaveRate limits how often a user leaves one room. A user that leaves a room and comes back writes up to two entries, also while the room
// is frozen or the user is muted there.
var leaveRate = chat.Rate{PerSecond: 0.1, Burst: 5}

func (r *Rates) spendLeave(ctx context.Context, user, room string) error {
	return r.take(ctx, "leave:"+user+":"+room, leaveRate, true)
}

// mentionAllRate limits how often the owner and admins of a room mention all members: 3 times an hour.
var mentionAllRate = chat.Rate{PerSecond: 3.0 / 3600, Burst: 3}

func (r *Rates) spendMentionAll(ctx context.Context, room string) error {
	return r.take(ctx, "mention_all:"+room, mentionAllRate, true)
}

// SpendPreview counts a preview of an invite link or a public room against the limit of the address that the request comes from.
func (r *Rates) SpendPreview(ctx context.Context, address string) error {
	return r.take(ctx, "preview:"+address, previewRate, true)
}

// admitGrab counts a grab that is about to call the pool against the limit that all instances share (sharedGrabs), unless it is
// within freeGrabs.
func (r *Rates) admitGrab(ctx context.Context, user string) error {
	if r.local == nil || r.shared == nil {
		return nil
	}
	if wait, err := r.local.Take(ctx, "free:"+user, freeGrabs); err == nil && wait == 0 {
		return nil
	}
	return r.takeShared(ctx, MethodGrab+":"+user, sharedGrabs)
}

func (r *Rates) take(ctx context.Context, key string, rate chat.Rate, everywhere bool) error {
	if r.local == nil {
		return nil
	}
	wait, err := r.local.Take(ctx, key, rate)
	switch {
	case err != nil:
		return err
	case wait > 0:
		return &chat.RateError{After: wait}
	case !everywhere || r.shared == nil:
		return nil
	}
	return r.takeShared(ctx, key, rate)
}

// takeShared counts against the shared limiter. While the shared limiter cannot be reached, it allows everything; the
// limits of each instance still apply.
func (r *Rates) takeShared(ctx context.Context, key string, rate chat.Rate) error {
	now := r.now().Sub(r.start)
	if int64(now) < r.pausedUntil.Load() {
		return nil
	}
	limited, cancel := context.WithTimeout(ctx, sharedTimeout)
	defer cancel()
	wait, err := r.shared.Take(limited, key, rate)
	switch {
	case ctx.Err() != nil: // the caller has cancelled: not a failure of the limiter
		return ctx.Err()
	case err != nil:
		r.pausedUntil.Store(int64(now + sharedPause))
		return nil
	case wait > 0:
		return &chat.RateError{After: wait}
	}
	return nil
}

// grabCall is the call of a grab.
type grabCall struct {
	request wire.GrabRequest
	reply   wire.GrabReply

	finished   redpacket.FinishedGrab // of a grab that is answered from memory
	fromMemory bool                   // finished is set
}

func (g *grabCall) decode(data []byte) error { return Decode(data, &g.request) }

func (g *grabCall) answer(ctx context.Context, a *Commands, c Caller) (reply any, err error) {
	result, err := g.run(ctx, a, c)
	if err != nil || result.Outcome == redpacket.OutcomeEmpty || result.Outcome == redpacket.OutcomeExpired {
		g.refuse(a, c.User.ID, result.Outcome, err)
	}
	g.reply = convert.GrabReply(result)
	return &g.reply, err
}

// refuse tells that the grab got no share.
func (g *grabCall) refuse(a *Commands, user string, why redpacket.Outcome, err error) {
	if a.refused != nil {
		a.refused(user, g.request.Packet, why, err)
	}
}

// grab returns the call of a grab, if the request is a valid one.
func (r *Request) grab() (g *grabCall, ok bool) {
	if r.method != MethodGrab || r.decode() != nil {
		return nil, false
	}
	g, ok = r.call.(*grabCall)
	return g, ok
}

func (g *grabCall) run(ctx context.Context, a *Commands, c Caller) (redpacket.Result, error) {
	if g.fromMemory {
		return g.finished.Answer()
	}
	admit := func(ctx context.Context, room string) (waited bool, err error) {
		if err := a.rates.admitGrab(ctx, c.User.ID); err != nil {
			return false, err
		}
		if !a.wants(MethodGrab) {
			return false, nil
		}
		return true, a.askGrab(ctx, c, room, &g.request)
	}
	return a.packets.Grab(ctx, redpacket.GrabRequest{User: c.User.ID, Person: c.Person, Packet: g.request.Packet, Passphrase: g.request.Passphrase, Admit: admit})
}

// wants reports whether the host is asked about the command.
func (a *Commands) wants(command string) bool { return a.hooks != nil && a.hooks.Wants(command) }

// FromMemory reports whether the request can be answered from memory: it is a grab of a packet that has ended, and both
// the end and the user's standing in the room are cached. Most grabs are such requests. If it returns true, Answer does not
// block.
func (a *Commands) FromMemory(user string, r *Request) bool {
	g, ok := r.grab()
	if !ok {
		return false
	}
	g.finished, g.fromMemory = a.packets.FromMemory(user, g.request.Packet, a.chat.CachedStanding)
	return g.fromMemory
}
