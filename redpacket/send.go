package redpacket

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"hongbao/chat"
	"hongbao/redpacket/crashpoint"
)

// SendRequest is a request to send a packet. Zero fields take the defaults of web/docs/protocol/packets.md.
type SendRequest struct {
	Room       string
	Key        string
	Mode       Mode
	Spread     Spread
	Total      Money
	Count      int // 0: the number of users in To
	Greeting   string
	To         []string // only these users may grab; empty: every member
	Passphrase string   // a user must give it to get a share; empty: none
	TTL        time.Duration
	Commitment string // the commitment that the sender expects; empty: any

	EarlierMembers bool // only earlier members may grab: users that have been members since before the packet was sent
	OnePerPerson   bool // it pays at most one share to each person
	Skin           Skin // empty: the plain envelope

	OpensAt time.Time // grabs are refused until then; zero: the packet is open once it is sent

	HoldFor  []string      // a share is held for each of these users
	HoldAway bool          // shares are held for members that are away: see Rooms.Away
	HoldTime time.Duration // for so long after the packet opens

	Window time.Duration // the packet is a draw that users can enter for so long; 0: first come, first served
	Rest   Rest          // of a draw; empty: RestRefund
	Rain   Rain          // the zero value: the packet is no rain. MaxWins 0: all waves
	Over   time.Duration // of a rain: its waves lie within so much time

	// Replaced is the greeting that the packet gets in place of Greeting; nil: none. A repeated request must have the same
	// Greeting as the first one, whatever Replaced is.
	Replaced *string
	Funded   *Funded // money of the host; nil: none
}

// DefaultGreeting is the greeting of packets that are sent without one.
const DefaultGreeting = "恭喜发财，大吉大利"

// Send books a packet, loads it into the Pool and publishes its entry. A repeated request returns the first result, with Dup
// set and the present account, and publishes nothing. A used key with another request is chat.ErrKeyReused.
func (s *Service) Send(ctx context.Context, from chat.User, r SendRequest) (Sent, error) {
	sent, err := s.send(ctx, from, r)
	if r.Funded != nil {
		s.settleFunding(ctx, *r.Funded, sent, err)
	}
	return sent, err
}

// CheckSend returns an error if a field of the request is not valid. Send refuses such a request, unless its key was used
// before. CheckSend does not check whether the recipients are members of the room.
func (s *Service) CheckSend(r SendRequest) error {
	if strings.ContainsRune(r.Room, 0) {
		return chat.BadField("room", "must not hold U+0000")
	}
	return r.withDefaults(s.o.Limits).check(s.o.Limits, s.o.Now())
}

// CheckGreeting returns an error if no packet can have the greeting.
func (s *Service) CheckGreeting(text string) error { return checkGreeting(text, s.o.Limits) }

// KeyUsed reports whether a committed command of the user has this idempotency key.
func (s *Service) KeyUsed(ctx context.Context, user, key string) (bool, error) {
	return s.ledger.KeyUsed(ctx, user, key)
}

func (s *Service) send(ctx context.Context, from chat.User, r SendRequest) (Sent, error) {
	r = r.withDefaults(s.o.Limits)
	now := s.o.Now()
	bad := r.check(s.o.Limits, now)
	if bad == nil {
		bad = s.checkRecipients(ctx, from.ID, r)
	}
	if bad == nil {
		bad = s.passphrases.checkNew(r.Passphrase)
	}
	hold := Hold{}
	if bad == nil && r.holds() {
		hold, bad = s.holdOf(ctx, from.ID, r, opening(r, now))
	}
	if bad == nil {
		bad = s.clocks.err()
	}
	if bad != nil {
		// The ledger looks up the key before it checks anything else. So if the key was used, the answer is the first result
		// or chat.ErrKeyReused, even if the request has a fault.
		used, err := s.ledger.KeyUsed(ctx, from.ID, r.Key)
		if err != nil {
			return Sent{}, err
		}
		if !used {
			return Sent{}, bad
		}
	}
	hash := r.hash()
	if r.Replaced != nil {
		r.Greeting = cmp.Or(*r.Replaced, DefaultGreeting)
	}
	id := s.o.NewID(now)
	partition, opens := partitionOf(id), opening(r, now)
	if r.isDraw() {
		partition, opens = NoPartition, opening(r, now.Add(s.clocks.ledgerAhead()))
	}
	sent, err := s.ledger.Send(context.WithoutCancel(ctx), UnsealedPacket{
		Packet: Packet{
			Ref: Ref{ID: id, Partition: partition}, Room: r.Room, From: from, Mode: r.Mode, Spread: r.Spread,
			Total: r.Total, Count: r.Count, Greeting: r.Greeting, To: r.To, Passphrase: r.Passphrase,
			CreatedAt: now, OpensAt: r.OpensAt, ExpiresAt: opens.Add(r.TTL), Key: r.Key, EarlierMembers: r.EarlierMembers, OnePerPerson: r.OnePerPerson, Skin: r.Skin,
			Window: cmp.Or(r.Window, r.Over), Rest: r.Rest, Rain: r.Rain, Hold: hold,
		},
		Hash: hash, Funded: r.Funded, Expect: r.Commitment, NextSeed: NewSeed(), EntryID: s.o.NewID(now), MaxOpen: s.o.Limits.MaxOpen, Limits: s.o.DayLimits,
	})
	s.rooms.NoteOutcome(r.Room, err)
	var stale *CommitmentError
	if errors.As(err, &stale) {
		stale.Packet = s.packetWith(ctx, from.ID, r.Commitment, now)
	}
	if err != nil || sent.Dup {
		return sent, err
	}
	crashpoint.Here("send.after-commit")
	change := -r.Total
	if r.Funded != nil {
		change += r.Funded.Amount
	}
	s.announce(ctx, sent, change)
	return sent, nil
}

// The sender's packets among which packetWith looks.
const (
	conflictPeriod  = time.Hour
	conflictPackets = 50
)

// opening returns when a packet that is sent now opens.
func opening(r SendRequest, now time.Time) time.Time {
	if r.OpensAt.IsZero() {
		return now
	}
	return r.OpensAt
}

// packetWith returns the id of the packet that the sender has sent lately with this commitment. It returns "" if there is none, or if it
// cannot be read. The client then shows the conflict to its user.
func (s *Service) packetWith(ctx context.Context, sender, commitment string, now time.Time) string {
	page, err := s.ledger.Packets(ctx, PacketsQuery{
		Of: sender, Direction: DirSent, From: now.Add(-conflictPeriod), To: now.Add(conflictPeriod), Limit: conflictPackets,
	})
	if err != nil {
		return ""
	}
	for _, p := range page.Packets {
		if p.Packet.Commitment == commitment {
			return p.Packet.ID
		}
	}
	return ""
}

// announce loads a committed packet into the Pool and publishes its entry. If loading fails, the first grab or the
// backstop loads it. change is the change of the sender's balance.
func (s *Service) announce(ctx context.Context, sent Sent, change Money) {
	p := sent.Packet
	k := s.memory.put(p)
	switch {
	case p.Rain.Waves > 0 && p.OpensAt.After(s.o.Now().Add(RainSoon)): // findRains finds it when its time comes
		s.sentRains.add(p.ID)
	case p.Rain.Waves > 0:
		s.rains.follow(RainPlan{Ref: p.Ref, Room: p.Room, Opens: sent.Opens}, true, 0)
	case p.IsDraw() && p.OpensAt.IsZero():
		s.drawAtCutoff(k, 0)
	case p.IsDraw(): // it may be days away: an instance at which a user enters draws it, or else the backstop
	default:
		if err := s.pool.Load(context.WithoutCancel(ctx), newImage(p)); err != nil {
			s.o.Log.Warn("packet not loaded yet", "packet", p.ID, "err", err)
		}
	}
	crashpoint.Here("send.after-load")
	s.wallets.publish(p.From.ID, WalletChanged{Account: sent.Account, Change: change, Kind: TransferSend, Packet: p.ID})
	s.pub.Entry(sent.Entry)
	crashpoint.Here("send.after-publish")
}

func (r SendRequest) withDefaults(l Limits) SendRequest {
	r.Mode = cmp.Or(r.Mode, Lucky)
	switch {
	case r.Mode == Lucky:
		r.Spread = cmp.Or(r.Spread, Classic)
	case r.Mode == Equal && r.Spread.isValid():
		r.Spread = "" // has no meaning for equal shares
	}
	r.Greeting = cmp.Or(r.Greeting, DefaultGreeting)
	if r.isDraw() && r.TTL == 0 {
		r.TTL = cmp.Or(r.Window, r.Over)
		r.Rest = cmp.Or(r.Rest, RestRefund)
	}
	r.TTL = cmp.Or(r.TTL, l.DefaultTTL)
	r.To, r.HoldFor = eachOnce(r.To), eachOnce(r.HoldFor)
	r.Rain.MaxWins = cmp.Or(r.Rain.MaxWins, r.Rain.Waves)
	r.Count = cmp.Or(r.Count, len(r.To))
	if p := normal(r.Passphrase, l.PassphraseChars); p != "" { // a passphrase that is only spaces stays as it is, so that check refuses it
		r.Passphrase = p
	}
	return r
}

func (s Spread) isValid() bool { return s == Calm || s == Classic || s == Wild }

// checkSkin refuses skins that neither clients nor the host bring.
func checkSkin(s Skin, ofHost []Skin) error {
	all := append(Skins(), ofHost...)
	if s == "" || slices.Contains(all, s) {
		return nil
	}
	names := make([]string, len(all))
	for i, skin := range all {
		names[i] = string(skin)
	}
	return chat.BadField("skin", "must be one of "+strings.Join(names, ", ")+", or left out")
}

func (r SendRequest) check(l Limits, now time.Time) error {
	if err := chat.CheckKey(r.Key); err != nil {
		return err
	}
	if err := r.checkGrabbers(l); err != nil {
		return err
	}
	if err := r.checkRain(l); err != nil {
		return err
	}
	if err := r.checkCut(l); err != nil {
		return err
	}
	if err := r.checkDraw(l); err != nil {
		return err
	}
	if err := cmp.Or(r.checkOpening(l, now), r.checkHold(l)); err != nil {
		return err
	}
	switch {
	case r.Room == "":
		return chat.BadField("room", "is missing")
	case r.isDraw(): // its time is checked
	case r.TTL < l.MinTTL:
		return chat.BadField("ttl_s", "must be at least "+l.MinTTL.String())
	case r.TTL > l.MaxTTL:
		return &chat.FieldError{Err: chat.ErrLimitExceeded, Field: "ttl_s", Reason: "must be at most " + l.MaxTTL.String()}
	}
	return cmp.Or(checkSkin(r.Skin, l.Skins), checkGreeting(r.Greeting, l))
}

func checkGreeting(text string, l Limits) error {
	switch {
	case strings.ContainsRune(text, 0):
		return chat.BadField("greeting", "must not hold U+0000")
	case utf8.RuneCountInString(text) > l.GreetingChars:
		return &chat.FieldError{Err: chat.ErrTooLong, Field: "greeting", Reason: "must have at most " + strconv.Itoa(l.GreetingChars) + " characters"}
	}
	return nil
}

func (r SendRequest) isDraw() bool { return r.Window > 0 || r.Rain.Waves != 0 }

// checkRain checks what only a rain has.
func (r SendRequest) checkRain(l Limits) error {
	rain, number := r.Rain, strconv.Itoa
	switch {
	case rain.Waves == 0 && r.Over != 0:
		return chat.BadField("over_s", "is only for a rain, which has waves")
	case rain.Waves == 0 && rain.MaxWins != 0:
		return chat.BadField("max_wins", "is only for a rain, which has waves")
	case rain.Waves == 0:
		return nil
	case rain.Waves < l.MinWaves:
		return chat.BadField("waves", "must be at least "+number(l.MinWaves))
	case rain.Waves > l.MaxWaves:
		return &chat.FieldError{Err: chat.ErrLimitExceeded, Field: "waves", Reason: "must be at most " + number(l.MaxWaves)}
	case r.Over < l.MinOver:
		return chat.BadField("over_s", "must be at least "+l.MinOver.String())
	case r.Over > l.MaxOver:
		return &chat.FieldError{Err: chat.ErrLimitExceeded, Field: "over_s", Reason: "must be at most " + l.MaxOver.String()}
	case r.Over < time.Duration(rain.Waves)*WaveCell:
		return chat.BadField("over_s", "must be at least "+WaveCell.String()+" for each wave")
	case r.Count < 1 || r.Count%rain.Waves != 0:
		return chat.BadField("count", "must be a multiple of waves")
	case rain.MaxWins < 1 || rain.MaxWins > rain.Waves:
		return chat.BadField("max_wins", "must be 1 to the number of waves")
	case r.Window != 0:
		return chat.BadField("window_s", "must be left out: a rain has over_s")
	case r.TTL != r.Over:
		return chat.BadField("ttl_s", "must be left out: a rain ends after its last wave")
	case r.Rest != RestRefund:
		return chat.BadField("rest", "must be left out: what a rain leaves is refunded")
	}
	return nil
}

func (r SendRequest) checkDraw(l Limits) error {
	switch {
	case r.Rain.Waves != 0: // see checkRain
		return nil
	case r.Window == 0 && r.Rest != "":
		return chat.BadField("rest", "is only for a draw, which has window_s")
	case r.Window == 0:
		return nil
	case r.Window < l.MinWindow:
		return chat.BadField("window_s", "must be at least "+l.MinWindow.String())
	case r.Window > l.MaxWindow:
		return &chat.FieldError{Err: chat.ErrLimitExceeded, Field: "window_s", Reason: "must be at most " + l.MaxWindow.String()}
	case r.TTL != r.Window:
		return chat.BadField("ttl_s", "must be left out: a draw ends with its window")
	case r.Rest != RestRefund && r.Rest != RestShare:
		return chat.BadField("rest", "must be refund or share")
	}
	return nil
}

func (r SendRequest) checkCut(l Limits) error {
	switch {
	case r.Mode != Lucky && r.Mode != Equal:
		return chat.BadField("mode", "must be lucky or equal")
	case !r.Spread.isValid() && (r.Mode == Lucky || r.Spread != ""):
		return chat.BadField("spread", "must be calm, classic or wild")
	case r.Count < 1:
		return chat.BadField("count", "must be at least 1")
	case r.Total < 1:
		return chat.BadField("total", "must be at least 1")
	case r.Total > l.MaxTotal:
		return &chat.FieldError{Err: chat.ErrLimitExceeded, Field: "total", Reason: "must be at most " + strconv.FormatInt(int64(l.MaxTotal), 10)}
	case r.Count > l.MaxCount:
		return &chat.FieldError{Err: chat.ErrLimitExceeded, Field: "count", Reason: "must be at most " + strconv.Itoa(l.MaxCount)}
	case r.Total < Money(r.Count):
		return chat.BadField("total", "must be at least the count, so that every share is at least 1")
	}
	return nil
}

func (r SendRequest) hash() []byte {
	fields := []string{
		r.Room, string(r.Mode), string(r.Spread), strconv.FormatInt(int64(r.Total), 10), strconv.Itoa(r.Count), r.Greeting,
		r.TTL.String(), r.Passphrase,
	}
	method := "send_packet"
	if r.EarlierMembers { // not a field: requests without it hash as they did before it existed
		method = "send_packet to earlier members"
	}
	if r.OnePerPerson {
		method += " one a person"
	}
	if r.Skin != "" {
		method += " with skin " + string(r.Skin)
	}
	if r.Window != 0 {
		method += " for a draw with rest " + string(r.Rest)
	}
	if r.Rain.Waves != 0 {
		method += fmt.Sprintf(" for a rain of %d waves with at most %d wins", r.Rain.Waves, r.Rain.MaxWins)
	}
	if !r.OpensAt.IsZero() {
		method += " that opens at " + strconv.FormatInt(r.OpensAt.UnixMilli(), 10)
	}
	method += r.hashHold()
	return chat.RequestHash(method, append(fields, r.To...)...)
}

func partitionOf(packet string) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(packet))
	return int(h.Sum32() % Partitions)
}

// checkGrabbers checks the fields of the request that limit which users may grab.
func (r SendRequest) checkGrabbers(l Limits) error {
	switch {
	case len(r.To) > l.To:
		return &chat.FieldError{Err: chat.ErrLimitExceeded, Field: "to", Reason: "must name at most " + strconv.Itoa(l.To)}
	case len(r.To) > 0 && r.Count > len(r.To) && r.Rain.Waves == 0:
		return chat.BadField("count", "must be at most the number of those who may grab")
	case r.Passphrase != "" && normal(r.Passphrase, l.PassphraseChars) == "":
		return chat.BadField("passphrase", "must not be only spaces")
	case strings.ContainsRune(r.Passphrase, 0):
		return chat.BadField("passphrase", "must not hold U+0000")
	case utf8.RuneCountInString(r.Passphrase) > l.PassphraseChars:
		return &chat.FieldError{Err: chat.ErrTooLong, Field: "passphrase", Reason: "must have at most " + strconv.Itoa(l.PassphraseChars) + " characters"}
	}
	return nil
}

// checkRecipients checks that all recipients, and all users for whom shares are held, are members of the room. It checks the sender's own standing first: a
// user that may not see the room must not learn which users are in it.
func (s *Service) checkRecipients(ctx context.Context, from string, r SendRequest) error {
	if len(r.To) == 0 && !r.holds() {
		return nil
	}
	sender, err := s.rooms.Standing(ctx, r.Room, from)
	if err != nil {
		return err
	}
	if err := sender.MaySend(s.o.Now()); err != nil {
		return err
	}
	if err := s.checkMembers(ctx, r.Room, "to", r.To); err != nil {
		return err
	}
	return s.checkMembers(ctx, r.Room, "hold_for", r.HoldFor)
}

// checkMembers checks that all users that the field names are members of the room.
func (s *Service) checkMembers(ctx context.Context, room, field string, users []string) error {
	for _, user := range users {
		in, err := s.isIn(ctx, room, user)
		if err != nil {
			return err
		}
		if !in {
			return &chat.FieldError{Err: chat.ErrNotFound, Field: field, Reason: "must name members only"}
		}
	}
	return nil
}

func (s *Service) isIn(ctx context.Context, room, user string) (bool, error) {
	if !chat.ValidUser(user) {
		return false, nil
	}
	standing, err := s.rooms.Standing(ctx, room, user)
	return standing.In, err
}

// eachOnce returns the users in their order, without repetitions.
func eachOnce(users []string) []string {
	seen := make(map[string]struct{}, len(users))
	var once []string
	for _, u := range users {
		if _, again := seen[u]; !again {
			seen[u] = struct{}{}
			once = append(once, u)
		}
	}
	return once
}
