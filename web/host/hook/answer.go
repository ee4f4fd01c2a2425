package hook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/web/convert"
	"hongbao/web/host/hostapi"
	"hongbao/web/user/api"
	"hongbao/web/wire"
)

const (
	// maxAnswer bounds the body of an answer. It is enough for a text of 4,000 characters with escapes.
	maxAnswer = 32 << 10
	maxReason = 200  // code points of the reason of a denial
	maxData   = 2048 // bytes of the data of a denial, as compact JSON
)

// question returns what the host receives.
func (h *Hooks) question(q api.Question) ([]byte, error) {
	request, err := wire.Marshal(q.Request)
	if err != nil {
		return nil, fmt.Errorf("encode the request: %w", err)
	}
	return wire.Marshal(hostapi.HookQuestion{
		ID: q.ID, Type: q.Command, Timestamp: h.now().UTC().Format(time.RFC3339Nano),
		Data: hostapi.HookData{User: convert.User(q.User), Room: q.Room, Request: request, MayFund: q.MaxFund > 0},
	})
}

// verdict reads an answer. An answer that breaks any rule is Invalid: it counts as no verdict, as if the host had not answered.
func verdict(text []byte, q api.Question) (api.Verdict, Outcome, error) {
	v, outcome, err := parse(text, q)
	if outcome == Invalid {
		err = fmt.Errorf("the host's answer is invalid: %w", err)
	}
	return v, outcome, err
}

func parse(text []byte, q api.Question) (v api.Verdict, _ Outcome, err error) {
	if len(text) > maxAnswer {
		return v, Invalid, fmt.Errorf("it has over %d bytes", maxAnswer)
	}
	var a answer
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&a); err != nil {
		return v, Invalid, err
	}
	if d.More() {
		return v, Invalid, errors.New("there is more than one object")
	}
	if string(a.Preview) == "null" {
		a.Preview = nil
	}
	switch {
	case a.Allow == nil:
		return v, Invalid, errors.New("allow is missing")
	case !*a.Allow && a.Preview != nil:
		return v, Invalid, errors.New("it denies, and has a preview")
	case !*a.Allow:
		outcome, err := denial(a.HookAnswer)
		return api.Verdict{}, outcome, err
	case a.Reason != "" || a.Data != nil:
		return v, Invalid, errors.New("it allows, and has a reason or data")
	}
	outcome := Allowed
	if a.Text != nil {
		if v.Text, outcome = a.Text, Replaced; q.CheckText == nil {
			return api.Verdict{}, Invalid, fmt.Errorf("%s has no text to replace", q.Command)
		}
		if !utf8.ValidString(*a.Text) {
			return api.Verdict{}, Invalid, errors.New("its text is no UTF-8")
		}
		if err := q.CheckText(*a.Text); err != nil {
			return api.Verdict{}, Invalid, err
		}
	}
	if a.Preview != nil {
		if q.CheckPreview == nil {
			return api.Verdict{}, Invalid, fmt.Errorf("%s has no preview", q.Command)
		}
		v.Preview, v.NoPreview = a.preview(q, v.Text)
	}
	if v.Hold = a.Hold; v.Hold && !q.MayHold {
		return api.Verdict{}, Invalid, fmt.Errorf("%s cannot be held", q.Command)
	}
	if a.Fund != nil {
		v.Fund, outcome = api.Fund{Amount: redpacket.Money(a.Fund.Amount), Key: a.Fund.Key}, Funded
		switch {
		case q.MaxFund == 0:
			return api.Verdict{}, Invalid, errors.New("it funds what may not be funded")
		case v.Fund.Amount < 1 || v.Fund.Amount > q.MaxFund:
			return api.Verdict{}, Invalid, fmt.Errorf("it funds %d, want 1 to %d", v.Fund.Amount, q.MaxFund)
		case chat.CheckKey(v.Fund.Key) != nil:
			return api.Verdict{}, Invalid, errors.New("the key of its fund must have 1 to 64 characters from ! to ~")
		}
	}
	return v, outcome, nil
}

// answer is the host's answer, with the preview as it was sent.
type answer struct {
	hostapi.HookAnswer

	Preview json.RawMessage `json:"preview"`
}

// preview reads the preview. A preview that breaks a rule is left out, and the rest of the answer counts: a text that the host has replaced or
// denied must not be sent because a title is too long.
func (a answer) preview(q api.Question, replaced *string) (*chat.Preview, error) {
	var p wire.Preview
	d := json.NewDecoder(bytes.NewReader(a.Preview))
	d.DisallowUnknownFields()
	if err := d.Decode(&p); err != nil {
		return nil, err
	}
	checked := chat.Preview(p)
	if err := q.CheckPreview(checked, replaced); err != nil {
		return nil, err
	}
	return &checked, nil
}

func denial(a hostapi.HookAnswer) (Outcome, error) {
	data := a.Data
	if string(data) == "null" {
		data = nil
	}
	var compact bytes.Buffer
	if data != nil {
		_ = json.Compact(&compact, data) // the decoder has accepted it
		data = compact.Bytes()
	}
	switch {
	case a.Text != nil || a.Fund != nil || a.Hold:
		return Invalid, errors.New("it denies, and has a text, a fund or hold")
	case utf8.RuneCountInString(a.Reason) > maxReason || strings.ContainsRune(a.Reason, 0):
		return Invalid, fmt.Errorf("its reason must have at most %d characters", maxReason)
	case len(data) > maxData:
		return Invalid, fmt.Errorf("its data must have at most %d bytes", maxData)
	}
	return Denied, &api.DeniedError{Reason: a.Reason, Data: data}
}
