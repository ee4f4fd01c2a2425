package web

import (
	"testing"

	"hongbao/web/webtest"
)

// TestBrowserModel runs functions of the page that no journey reaches soon, in a page of a guest.
func TestBrowserModel(t *testing.T) {
	s := newTestServer(t, withGuests)
	ann := visitAsGuest(t, webtest.Browser(t), "http://"+s.listen(t), "Ann", webtest.Screen{})
	s.httpGuest(t, "Bob").does("create_room", `"name":"Tea","members":[%q]`, userID(ann))
	ann.Has("link", "Tea")
	for name, script := range map[string]string{
		"a silence until tomorrow ends in the morning that is some hours away": `
			const { untilTomorrow } = await import('/app/views/room-prefs.js');
			const until = (hour, minute) => new Date(2026, 5, 10, hour, minute).getTime();
			const ends = [[0, 30], [3, 59], [4, 1], [23, 0]].map((at) => new Date(until(...at) + untilTomorrow(until(...at)) * 1000));
			return ends.every((end) => end.getHours() === 8) && ends.map((end) => end.getDate()).join() === '10,10,11,11';`,
		"signing out forgets the last room of this user alone": `
			const { forgetWritten, keep, kept, lastRoomOf } = await import('/app/storage.js');
			keep(lastRoomOf('x-ann'), 'r1'), keep(lastRoomOf('x-anna'), 'r2');
			forgetWritten('x-ann');
			return kept(lastRoomOf('x-ann')) === null && kept(lastRoomOf('x-anna')) === 'r2';`,
		"only a final refusal takes a packet off those that wait": `
			const { waitingIn, noteOffered } = await import('/app/model/waiting.js');
			const { state } = await import('/app/state.js');
			const packet = { id: 'x-p', room: 'x-r', from: { id: 'x-bob' }, count: 2, total: 100, mode: 'lucky', expires_at: Date.now() + 1e6, created_at: Date.now() };
			noteOffered({ packet, seq: 1, state: { packet: 'x-p', status: 'open', claimed: 0, left: 100 } });
			const waits = (word) => { state.packets.get('x-p').refusal = word && { word }; return waitingIn('x-r').length; };
			return [null, 'rate_limited', 'wrong_passphrase', 'waiting', 'denied', 'joined_later'].map(waits).join() === '1,1,1,1,0,0';`,
		"guests are marked as soon as somebody is none": `
			const { marksGuests, meet } = await import('/app/model/people.js');
			meet({ id: 'x-cyn', name: 'Cyn', guest: true });
			const before = marksGuests();
			meet({ id: 'x-cyn', name: 'Cyn' });
			return !before && marksGuests();`,
		"after three empty pages only the user goes further": `
			const { addPage, emptyPages, isBarren } = await import('/app/model/pages.js');
			const pages = emptyPages(), barren = [];
			for (const items of [[], [], ['a'], [], [], []]) addPage(pages, items, 'next', String), barren.push(isBarren(pages));
			return barren.join() === 'false,false,false,false,false,true';`,
		"a key of an input method opens no room": `
			const field = document.querySelector('.rooms-search input');
			const key = new KeyboardEvent('keydown', { key: 'Enter', isComposing: true, bubbles: true, cancelable: true });
			return field.dispatchEvent(key);`,
	} {
		if !webtest.Ask[bool](ann.Tab, `(async () => {`+script+`})()`) {
			t.Errorf("not true: %s", name)
		}
	}
}
