package growth

// step is one request of a round. In call and body, a name in braces stands for its value: see player.values. keeps names a value of
// the answer that later steps need: "room=room.id" keeps the field id of the field room as {room}.
type step struct {
	name  string
	call  string // verb and path below /v1/server/
	body  string
	keeps string
	scans bool // it reads up to 10,000 rooms or users, whatever the size of the database
}

// command returns a step in which the user calls a command.
func command(name, user, command, body string) step {
	return step{name: name, call: "POST as/" + user + "/" + command, body: body}
}

func (s step) keeping(value string) step {
	s.keeps = value
	return s
}

func (s step) scanning() step {
	s.scans = true
	return s
}

// Users of the steps, besides those of package fill. They and the winner are in the large room.
const friend, stranger, usual = "u-0000003", "u-0000004", "u-0000077"

// steps is a round. It leaves little behind, so that rounds can be compared.
var steps = []step{
	command("rooms: of a user with many", "{joiner}", "rooms", `{"limit":10}`),
	command("history: newest, of a large room", "{winner}", "history", `{"room":"{crowd}","limit":10}`),
	command("history: oldest, of a large room", "{winner}", "history", `{"room":"{crowd}","after":0,"limit":10}`),
	command("members: of a large room", "{winner}", "members", `{"room":"{crowd}","limit":10}`),
	command("presence: of a large room", "{winner}", "presence", `{"room":"{crowd}"}`),
	command("find_rooms: all", "{winner}", "find_rooms", `{"limit":10}`),
	command("find_rooms: a frequent word", "{winner}", "find_rooms", `{"query":"the","limit":10}`).scanning(),
	command("find_rooms: one room", "{winner}", "find_rooms", `{"query":"the 120","limit":10}`).scanning(),
	command("find_rooms: no room", "{winner}", "find_rooms", `{"query":"nowhere","limit":10}`),
	command("packets: received, of a user with many", "{winner}", "packets", `{"direction":"received","limit":10}`),
	command("packets: sent", usual, "packets", `{"direction":"sent","limit":10}`),
	command("packets: waiting, in many rooms", "{joiner}", "packets", `{"direction":"waiting","limit":10}`),
	command("room_packets: of a large room", "{winner}", "room_packets", `{"room":"{crowd}","limit":10}`),
	command("room_packets: open in a large room", "{winner}", "room_packets", `{"room":"{crowd}","part":"open","limit":10}`),
	command("packet", "{winner}", "packet", `{"packet":"{won}","limit":10}`),
	command("wallet: of a user with many wins", "{winner}", "wallet", `{"limit":10}`),
	command("mentions", "{winner}", "mentions", `{}`),
	command("mentions: in many rooms", "{joiner}", "mentions", `{}`),
	command("search: a frequent word, in many rooms", "{joiner}", "search", `{"words":"the","limit":10}`).scanning(),
	command("search: a word that nobody uses, in many rooms", "{joiner}", "search", `{"words":"nowhere","limit":10}`).scanning(),
	command("search: two frequent words of a large room", "{winner}", "search", `{"words":"the lunch","room":"{crowd}","limit":10}`).scanning(),
	command("search: a character of a large room", "{winner}", "search", `{"words":"新","room":"{crowd}","limit":10}`).scanning(),
	command("users", "{winner}", "users", `{"users":["`+friend+`","`+stranger+`"]}`),
	command("contacts", "{winner}", "contacts", `{}`),
	command("direct", "{winner}", "direct", `{"user":"`+stranger+`"}`),
	command("block", "{winner}", "block", `{"user":"`+stranger+`"}`),
	command("unblock", "{winner}", "unblock", `{"user":"`+stranger+`"}`),
	command("set_contact", "{winner}", "set_contact", `{"contact":"everyone"}`),
	command("set_own_limits", "{winner}", "set_own_limits", `{"sent":10000000}`),

	command("send: into a large room", "{winner}", "send", `{"room":"{crowd}","key":"{key}","text":"hello"}`).keeping("seq=seq"),
	command("react", "{winner}", "react", `{"room":"{crowd}","seq":{seq},"emoji":"👍","on":true}`),
	command("edit", "{winner}", "edit", `{"room":"{crowd}","seq":{seq},"text":"hello again"}`),
	command("read", "{joiner}", "read", `{"room":"{crowd}","seq":{seq}}`),
	command("recall", "{winner}", "recall", `{"room":"{crowd}","seq":{seq}}`),
	command("set_room_prefs", "{winner}", "set_room_prefs", `{"room":"{crowd}","pinned":true}`),
	command("join", "{winner}", "join", `{"room":"{public}"}`),
	command("leave", "{winner}", "leave", `{"room":"{public}"}`),
	command("create_room", "{winner}", "create_room", `{"key":"{key}","name":"Growth","members":["`+friend+`"]}`).keeping("room=room.id"),
	command("send", "{winner}", "send", `{"room":"{room}","key":"{key}","text":"hello"}`).keeping("seq=seq"),
	command("report", friend, "report", `{"key":"{key}","room":"{room}","seq":{seq},"reason":"spam"}`),
	command("reports: of the reporter", friend, "reports", `{"side":"reporter","limit":10}`),
	command("reports: about a user", "{winner}", "reports", `{"side":"reported","limit":10}`),
	command("invite", "{winner}", "invite", `{"room":"{room}","users":["`+stranger+`"]}`),
	command("mute", "{winner}", "mute", `{"room":"{room}","user":"`+stranger+`","seconds":60}`),
	command("kick", "{winner}", "kick", `{"room":"{room}","user":"`+stranger+`","ban":true}`),
	command("unban", "{winner}", "unban", `{"room":"{room}","user":"`+stranger+`"}`),
	command("set_role", "{winner}", "set_role", `{"room":"{room}","user":"`+friend+`","role":"admin"}`),
	command("update_room", "{winner}", "update_room", `{"room":"{room}","name":"Growth {n}"}`),
	command("create_link", "{winner}", "create_link", `{"room":"{room}","approval":true}`).keeping("code=code"),
	command("links", "{winner}", "links", `{"room":"{room}"}`),
	command("join_link", stranger, "join_link", `{"code":"{code}"}`),
	command("join_requests", "{winner}", "join_requests", `{"room":"{room}"}`),
	command("answer_request", "{winner}", "answer_request", `{"room":"{room}","user":"`+stranger+`","admit":true}`),
	command("send_packet: into a large room", "{winner}", "send_packet", `{"room":"{crowd}","key":"{key}","total":100,"count":10}`).keeping("packet=packet.id"),
	command("cancel_packet", "{winner}", "cancel_packet", `{"packet":"{packet}"}`),
	command("send_packet", friend, "send_packet", `{"room":"{room}","key":"{key}","total":100,"count":2}`).keeping("packet=packet.id"),
	command("grab: won", "{winner}", "grab", `{"packet":"{packet}"}`),
	command("grab: already", "{winner}", "grab", `{"packet":"{packet}"}`),
	command("send_packet: a draw", friend, "send_packet", `{"room":"{room}","key":"{key}-draw","total":100,"count":2,"window_s":600}`).keeping("draw=packet.id"),
	command("grab: entered", "{winner}", "grab", `{"packet":"{draw}"}`),
	command("packet: a draw", "{winner}", "packet", `{"packet":"{draw}","limit":10}`),
	command("grab: entered, among many", "u-000010{n}", "grab", `{"packet":"{many}"}`),
	command("grab: entered before, among many", "u-000010{n}", "grab", `{"packet":"{many}"}`),
	command("packet: a draw of many", "{winner}", "packet", `{"packet":"{many}","limit":10}`),
	command("send_packet: a rain", friend, "send_packet", `{"room":"{room}","key":"{key}-rain","total":100,"count":6,"waves":3,"over_s":600}`).keeping("rain=packet.id"),
	command("grab: between waves", "{winner}", "grab", `{"packet":"{rain}"}`),
	command("packet: a rain", "{winner}", "packet", `{"packet":"{rain}","limit":10}`),
	command("delete_room", "{winner}", "delete_room", `{"room":"{room}"}`),

	{name: "host: a user", call: "GET users/{winner}"},
	{name: "host: users", call: "GET users?limit=10"},
	{name: "host: users by a name of few", call: "GET users?name=nobody&limit=10", scans: true},
	{name: "host: find users", call: "POST users/find", body: `{"users":["{winner}","` + friend + `"]}`},
	{name: "host: put a user", call: "PUT users/{newcomer}", body: `{"name":"Newcomer"}`},
	{name: "host: suspend", call: "POST users/{newcomer}/suspend", body: `{}`},
	{name: "host: reinstate", call: "POST users/{newcomer}/reinstate", body: `{}`},
	{name: "host: a large room", call: "GET rooms/{crowd}"},
	{name: "host: rooms", call: "GET rooms?limit=10"},
	{name: "host: members of a large room", call: "GET rooms/{crowd}/members?limit=10"},
	{name: "host: history of a large room", call: "GET rooms/{crowd}/history?limit=10"},
	{name: "host: bans of a large room", call: "GET rooms/{crowd}/bans"},
	{name: "host: add to a large room", call: "POST rooms/{crowd}/members", body: `{"users":["{newcomer}"]}`},
	{name: "host: remove from a large room", call: "POST rooms/{crowd}/members/remove", body: `{"users":["{newcomer}"]}`},
	{name: "host: a wallet", call: "GET users/{winner}/wallet"},
	{name: "host: wallets", call: "GET wallets?limit=10"},
	{name: "host: credit", call: "POST users/{newcomer}/credit", body: `{"amount":1}`},
	{name: "host: debit", call: "POST users/{newcomer}/debit", body: `{"amount":1}`},
	{name: "host: limits of a wallet", call: "PUT users/{newcomer}/limits", body: `{"packets":-1}`},
	{name: "host: freeze a wallet", call: "POST users/{newcomer}/wallet/freeze", body: `{}`},
	{name: "host: unfreeze a wallet", call: "POST users/{newcomer}/wallet/unfreeze", body: `{}`},
	{name: "host: transfers", call: "GET transfers?limit=10"},
	{name: "host: transfers of a user with many", call: "GET transfers?user={winner}&limit=10"},
	{name: "host: packets of a user with many", call: "GET packets?user={winner}&direction=received&limit=10"},
	{name: "host: packets of a large room", call: "GET packets?room={crowd}&limit=10"},
	{name: "host: a packet", call: "GET packets/{won}"},
	{name: "host: reports", call: "GET reports?limit=10"},
	{name: "host: acts", call: "GET acts?limit=10"},
	{name: "host: quarantine", call: "GET quarantine?limit=10"},
	{name: "host: what a user with many has sent", call: "GET users/{winner}/entries?limit=10"},
	{name: "host: set the retention of a large room", call: "PUT rooms/{crowd}/retention?reason=growth", body: `{"days":0}`},
	{name: "host: the retention of a large room", call: "GET rooms/{crowd}/retention"},
	{name: "host: a legal hold", call: "PUT legal_holds/user/{newcomer}?reason=growth"},
	{name: "host: end a legal hold", call: "DELETE legal_holds/user/{newcomer}?reason=growth"},
	{name: "host: put a user that is erased later", call: "PUT users/gone-{n}", body: `{"name":"Gone"}`},
	{name: "host: erase", call: "POST users/gone-{n}/erase?reason=growth", body: `{"texts":"erase"}`},
	{name: "host: an erasure", call: "GET users/gone-{n}/erase"},
}
