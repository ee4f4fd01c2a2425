package web

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"hongbao/chat"
	"hongbao/hub/hubtest"
	"hongbao/store/enginetest"
	"hongbao/web/user/api"
	"hongbao/web/user/webpush"
	"hongbao/web/webtest"
	"hongbao/web/wire"
)

// examplePush is a valid request of subscribe_push.
var examplePush = object{
	"endpoint": "https://push.example/1",
	"p256dh":   "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4", "auth": "BTBZMqHH6r4Tts7J_aSIgg",
}

// newPush returns a notifier that passes on to next, and may send to loopback addresses.
func newPush(t *testing.T, next chat.Publisher, store webpush.Store, presence chat.Presence) *webpush.Notifier {
	t.Helper()
	keys, err := webpush.NewKeys()
	noError(t, err)
	var client *http.Client
	if bubbled() {
		transport := &http.Transport{DialContext: hubtest.DialPipe}
		t.Cleanup(transport.CloseIdleConnections)
		client = &http.Client{Transport: transport}
	}
	return webpush.New(next, webpush.Options{
		HTTP: client, Keys: keys, Contact: "ops@example.com", Allowed: []string{"127.0.0.1"}, Store: store, Presence: presence,
	})
}

// withPush makes a server take push subscriptions. Nobody is told of news.
func withPush(t *testing.T) func(*Options) {
	t.Helper()
	return func(o *Options) { o.Push = newPush(t, nil, nil, nil) }
}

// pushService is the push service of a browser, on a loopback address. It decrypts what it gets.
type pushService struct {
	url  string
	keys webtest.PushKeys
	got  chan string
}

func newPushService(t *testing.T) *pushService {
	t.Helper()
	p := &pushService{keys: webtest.NewPushKeys(t), got: make(chan string, 100)}
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		p.got <- strings.TrimPrefix(r.URL.Path, "/") + " " + p.keys.Decrypt(t, body)
		w.WriteHeader(http.StatusCreated)
	})
	if bubbled() {
		p.url = "http://" + hubtest.ServeOnPipe(t, handler)
		return p
	}
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	p.url = server.URL
	return p
}

// subscription returns the request of subscribe_push for a user.
func (p *pushService) subscription(user string) wire.SubscribePushRequest {
	p256dh, auth := p.keys.Texts()
	return wire.SubscribePushRequest{Endpoint: p.url + "/" + user, P256dh: p256dh, Auth: auth}
}

// next returns the next notification.
func (p *pushService) next(t *testing.T) string {
	t.Helper()
	select {
	case text := <-p.got:
		return text
	case <-time.After(patience):
		t.Fatal("no notification came")
		return ""
	}
}

// TestPushIsSentByOneInstance has two instances, and users with a socket on the other one, without any, and in a silenced room. A user without a
// socket must be told once, whichever instance commits.
func TestPushIsSentByOneInstance(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		engines, service := newTestEngines(t), newPushService(t)
		engines.push = true
		one, two := engines.open(t), engines.open(t)
		ann, bob, cyn, dan := one.signIn(t, "ann", 1000), one.signIn(t, "bob", 0), one.signIn(t, "cyn", 0), one.signIn(t, "dan", 0)
		request := wire.CreateRoomRequest{Key: "tea", Name: "Tea", Kind: "public", Members: []string{"bob", "cyn", "dan"}}
		room := call[wire.CreateRoomReply](t, one, ann, "create_room", request).Room.ID
		for user, c := range map[string]api.Caller{"ann": ann, "bob": bob, "cyn": cyn, "dan": dan} {
			call[wire.SubscribePushReply](t, one, c, "subscribe_push", service.subscription(user))
		}
		call[wire.SetRoomPrefsReply](t, one, dan, "set_room_prefs", wire.SetRoomPrefsRequest{Room: room, Silent: new(true)})
		connected(t, two.listen(t), wire.JSON, "cyn")
		direct := call[wire.DirectReply](t, one, ann, "direct", wire.DirectRequest{User: "bob"}).Room.ID

		call[wire.SendPacketReply](t, one, ann, "send_packet", wire.SendPacketRequest{Room: room, Key: "p", Total: 100, Count: new(2)})
		if got, want := service.next(t), fmt.Sprintf(`bob {"room":%q,"name":"Tea","why":"packet","from":"Name of ann","count":1}`, room); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		call[wire.SendReply](t, two, ann, "send", wire.SendRequest{Room: direct, Key: "d", Text: "a secret text"})
		if got, want := service.next(t), fmt.Sprintf(`bob {"room":%q,"why":"direct","from":"Name of ann","count":1}`, direct); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		call[wire.UnsubscribePushReply](t, one, bob, "unsubscribe_push", wire.UnsubscribePushRequest{Endpoint: service.url + "/bob"})
		call[wire.SendReply](t, two, ann, "send", wire.SendRequest{Room: room, Key: "m", Text: "@Bob @Dan", Mentions: []string{"bob", "dan", "cyn"}})
		time.Sleep(time.Minute) // sleeps: in a bubble
		if n := len(service.got); n != 0 {
			t.Errorf("%d more notifications, the first: %s", n, <-service.got)
		}
	})
}

// pushHere makes the browser allow notifications and subscribe at a push service of the test. A headless browser can do neither.
const pushHere = `(() => {
	let present = null;
	const bytes = (text) => Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (c) => c.charCodeAt(0)).buffer;
	Object.defineProperty(Notification, 'permission', { get: () => 'granted' });
	Notification.requestPermission = async () => 'granted';
	PushManager.prototype.getSubscription = async () => present;
	PushManager.prototype.subscribe = async ({ applicationServerKey }) => present = {
		endpoint: %q, options: { applicationServerKey: bytes(applicationServerKey) },
		toJSON: () => ({ endpoint: %q, keys: { p256dh: %q, auth: %q } }),
		unsubscribe: async () => { present = null; localStorage.setItem('ended', 'yes'); return true; },
	};
})()`

// shownNotifications serves what h serves. Of notifications that the service worker shows it returns the texts and rooms.
func shownNotifications(h http.Handler) (_ http.Handler, shown chan string) {
	const stub = `ServiceWorkerRegistration.prototype.showNotification = (title, { body, tag, data }) =>
		fetch('shown?' + encodeURIComponent([title, body, tag, data.room].join('|')));
	`
	shown = make(chan string, 10)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/shown":
			text, _ := url.QueryUnescape(r.URL.RawQuery)
			shown <- text
		case "/sw.js":
			r.Header.Del("Accept-Encoding")
			r.Header.Del("If-None-Match")
			answer := httptest.NewRecorder()
			h.ServeHTTP(answer, r)
			w.Header().Set("Content-Type", answer.Header().Get("Content-Type"))
			w.Header().Set("Content-Security-Policy", answer.Header().Get("Content-Security-Policy"))
			_, _ = io.WriteString(w, stub+answer.Body.String())
		default:
			h.ServeHTTP(w, r)
		}
	}), shown
}

// TestBrowserPush switches notifications on in a browser, whose page is then closed. A packet must reach the browser's push service, and what came
// there must be shown by the service worker in the user's language. A sign-out must end the subscription.
func TestBrowserPush(t *testing.T) {
	enginetest.Nightly(t, "page")
	engines, service := newTestEngines(t), newPushService(t)
	engines.push = true
	s := engines.open(t, withGuests)
	handler, shown := shownNotifications(s.Handler())
	host, _ := serveAt(t, "127.0.0.1:0", handler)
	addr := "http://" + host
	bob := s.httpGuest(t, "Bob")
	ann := visitAsGuest(t, webtest.Browser(t), addr, "Ann", webtest.Screen{})
	id := userID(ann)
	as := service.subscription(id)
	ann.InjectScript(fmt.Sprintf(pushHere, as.Endpoint, as.Endpoint, as.P256dh, as.Auth))
	ann.Reload()
	tea, _ := twoRooms(t, bob, ann)
	webtest.Ask[bool](ann.Tab, `navigator.serviceWorker.ready.then(() => true)`)
	ann.Press("button", "Settings")
	ann.Press("switch", "Notifications")
	ann.Sees("They also come while this page is closed")
	ann.Press("radio", "中文")
	ann.Sees("关闭页面后也会收到提醒")
	awaitAsk(t, ann, `window.found || (caches.match('words', { cacheName: 'push-words' }).then((r) => r.text()).then((all) => { window.found = all.includes('红包'); }), false)`)
	stored := func() string { return s.rows(t, `select count(*) from push_subscriptions`)[0] }
	if stored() != "1" {
		t.Errorf("%s subscriptions are stored", stored())
	}

	ann.Do(chromedp.Navigate("about:blank"))
	bob.packet(tea, 100, 2, `,"greeting":"hurry"`)
	user, payload, _ := strings.Cut(service.next(t), " ")
	if user != id || strings.Contains(payload, "hurry") {
		t.Errorf("%s got %s", user, payload)
	}
	ann.DeliverPush(t, addr, payload)
	if got, want := <-shown, "Tea|Bob 发了一个红包|"+tea+"|"+tea; got != want {
		t.Errorf("shown is %s, want %s", got, want)
	}

	ann.Do(chromedp.Navigate(addr + "/?guest=another")) // the window of another guest, which is being looked at
	ann.Sees("怎么称呼你")
	ann.DeliverPush(t, addr, payload)
	select {
	case <-shown:
	case <-time.After(patience):
		t.Error("a window of another guest has kept the notification from being shown")
	}

	ann.Do(chromedp.Navigate(addr + "/"))
	ann.Press("button", "设置")
	ann.Sees("关闭页面后也会收到提醒")
	ann.DeliverPush(t, addr, payload) // a page is being looked at
	ann.Press("button", "退出登录")
	ann.Press("button", "退出登录")
	ann.Sees("怎么称呼你")
	if ended := webtest.Ask[bool](ann.Tab, `localStorage.getItem('ended') === 'yes'`); stored() != "0" || !ended {
		t.Errorf("after a sign-out %s subscriptions are stored, and of the browser it is %t that it has none", stored(), ended)
	}
	if len(shown) != 0 {
		t.Errorf("while the page was looked at, the notification %s was shown", <-shown)
	}
}

// TestBrowserSaysHowFarNotificationsReach switches notifications on where there is no Web Push, and where the push service cannot be reached.
func TestBrowserSaysHowFarNotificationsReach(t *testing.T) {
	enginetest.Nightly(t, "page")
	for text, push := range map[string]bool{"this server does not send any": false, "the push service of this browser cannot be reached": true} {
		engines := newTestEngines(t)
		engines.push = push
		s := engines.open(t, withGuests)
		ann := visitAsGuest(t, webtest.Browser(t), "http://"+s.listen(t), "Ann", webtest.Screen{})
		ann.InjectScript(fmt.Sprintf(pushHere, "e", "e", "p", "a") + `
			PushManager.prototype.subscribe = async () => { throw new DOMException('no push service', 'AbortError'); };`)
		ann.Reload()
		webtest.Ask[bool](ann.Tab, `navigator.serviceWorker.ready.then(() => true)`)
		ann.Press("button", "Settings")
		ann.Press("switch", "Notifications")
		ann.Sees("only while this page is open", text)
	}
}
