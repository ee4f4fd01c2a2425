package chat

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"hongbao/store/enginetest"
)

func TestNameHasOnlyVisibleCharacters(t *testing.T) {
	for name, want := range map[string]string{
		"Ann": "Ann", "  Ann \t Lee\n": "Ann Lee", "Ann\u00a0\u3000Lee": "Ann Lee", "cafe\u0301": "café", "小红": "小红", "": "", " \u3000 ": "",
		"Ann ❤️": "Ann ❤️", "👩🏽‍❤️‍👨🏻": "👩🏽‍❤️‍👨🏻", "🏳️‍🌈 1️⃣": "🏳️‍🌈 1️⃣", "می\u200cخواهم": "می\u200cخواهم", "क्\u200dष": "क्\u200dष", "O'Neil-Smith": "O'Neil-Smith",
	} {
		if got, ok := NormalName(name); !ok || got != want {
			t.Errorf("%+q is %+q, %t, want %+q", name, got, ok, want)
		}
	}
	for name, shown := range map[string]string{
		"\u202enimda": "nimda", "admin\u200b": "admin", "ad\u200dmin": "admin", "ad\u200cmin": "admin", "admin\ufe0f": "admin", "ad\u00admin": "admin",
		"\u2066Ann\u2069": "Ann", "A\x07nn\x00": "Ann", "\ufeffAnn": "Ann", "Ann\u034f": "Ann", "Ann\U000e0041": "Ann", "👍\u200d": "👍", "👍\ufe0f\ufe0f": "👍\ufe0f",
		"\u200b": "", "\u3164": "", "\u115f\u1160": "", "\u2800\u2800": "", "\u200d\u200d": "", "\u202e \u202c": "", "\u0301\u0302": "", "\xff": "", "م\u200c\u0600": "م",
	} {
		if got, ok := NormalName(name); ok || got != shown {
			t.Errorf("%+q is %+q, %t, want %+q and a refusal", name, got, ok, shown)
		}
	}
}

func TestReservedNames(t *testing.T) {
	reserved := ReservedNames{"admin", "Official", "support", "客服", "官方"}
	for _, name := range []string{
		"admin", "ADMIN", "Admin 1", "admin_2", "the admin", "a.d.m.i.n", "a d m i n", "ádmin", "ａｄｍｉｎ", "𝐚𝐝𝐦𝐢𝐧", "аdmin", "admіn", "οfficial", "Official Support",
		"support@bank", "官方", "在线客服", "客 服", "【客服】", "ⓢⓤⓟⓟⓞⓡⓣ",
	} {
		if !reserved.Holds(name) {
			t.Errorf("%q may be taken", name)
		}
	}
	for _, name := range []string{"", "Ann", "Badminton", "Supportive", "小红", "方官", "Adm in", "officially"} {
		if reserved.Holds(name) != (name == "Adm in") {
			t.Errorf("%q: %t", name, reserved.Holds(name))
		}
	}
	if (ReservedNames{"", " ", "1"}).Holds("Ann 1") {
		t.Error("a reserved name without letters reserves all")
	}
}

func TestAvatarIsAnAddressOfAPicture(t *testing.T) {
	for address, want := range map[string]string{
		"https://a.example/b.png?c=1": "https://a.example/b.png?c=1", "http://a.example/": "http://a.example/", "/p/1.png": "/p/1.png", "\thttps://a.example/b\n": "", "https://a.example/b\u0020": "https://a.example/b", "": "",
		"javascript:alert(1)": "", "data:text/html,x": "", "https://bank.example@evil.example/": "", "https://a.example/\u202egnp.b": "", "https://a.example/\x00": "", "http://[": "", "mailto:a": "",
	} {
		if got := NormalAvatar(address); got != want {
			t.Errorf("%+q is %+q, want %+q", address, got, want)
		}
	}
}

// FuzzName checks that a normal name is its own normal form, and that nothing in it is hidden except what shapes its
// neighbours.
func FuzzName(f *testing.F) {
	for _, name := range []string{"\u202enimda", "Ann ❤️", "👩🏽‍❤️‍👨🏻", "می\u200cخواهم", "cafe\u0301", "\ufe0f1\ufe0f\u20e3", "a\u200b\u0301", "\xff\u3164", "م\u200c\u0600", "‼️\u200d‼"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		normal, _ := NormalName(name)
		if again, ok := NormalName(normal); !ok || again != normal {
			t.Errorf("%+q gives %+q, and that %+q, %t", name, normal, again, ok)
		}
		if !utf8.ValidString(normal) || !norm.NFC.IsNormalString(normal) || strings.TrimSpace(normal) != normal || strings.Contains(normal, "  ") {
			t.Errorf("%+q gives %+q", name, normal)
		}
		runes := []rune(normal)
		for i, r := range runes {
			if hidden(r) && r != emojiStyle && (r != zeroWidthJoiner && r != zeroWidthNonJoiner || i == 0 || i == len(runes)-1) {
				t.Errorf("%+q gives %+q", name, normal)
			}
		}
		if avatar := NormalAvatar(name); NormalAvatar(avatar) != avatar {
			t.Errorf("%+q gives the avatar %+q, and that %+q", name, avatar, NormalAvatar(avatar))
		}
		ReservedNames{name}.Holds(name)
	})
}

// TestTextsAreLinear normalises long texts. The work must grow in proportion to the text.
func TestTextsAreLinear(t *testing.T) {
	enginetest.Linear(t, "name", func(text string) { NormalName(text) })
	enginetest.Linear(t, "avatar", func(text string) { NormalAvatar("https://a.example/" + text) })
	reserved := ReservedNames{"admin", "客服"}
	enginetest.Linear(t, "reserved name", func(text string) { reserved.Holds(text) })
	enginetest.Linear(t, "emoji", func(text string) { NormalEmoji(text) })
	enginetest.Linear(t, "key of a browser", func(text string) { _, _ = decodeKey(text) })
	enginetest.Linear(t, "endpoint", func(text string) { _ = checkEndpoint("https://push.example/" + text) })
}

// TestLengthIsCheckedBeforeNormalising gives texts whose normal form is short. They must be refused before they are normalised.
func TestLengthIsCheckedBeforeNormalising(t *testing.T) {
	const chars = 64
	for _, name := range []string{"Ann" + strings.Repeat(" ", RawBytes(chars)), strings.Repeat("\u200b", RawBytes(chars)) + "Ann"} {
		if _, err := checkName(name, chars); !errors.Is(err, ErrTooLong) {
			t.Errorf("a name of %d bytes: %v, want %v", len(name), err, ErrTooLong)
		}
	}
	if got, err := checkName(strings.Repeat("e\u0301 \u0020", chars/2), chars); err != nil || len([]rune(got)) != chars-1 {
		t.Errorf("a name of %d characters: %v", len([]rune(got)), err)
	}
	if got := NormalAvatar("https://a.example/" + strings.Repeat(" ", rawAvatarBytes)); got != "" {
		t.Errorf("an avatar of %d bytes is read", len(got))
	}
}
