package browser

// language holds names and texts of users in one language, and words of the page.
type language struct {
	me                  string
	people              []string // five of them
	room, other         string
	private, public     string
	talkLines           []string
	otherLines          []string
	finished, open      string // greetings
	locked, passphrase  string
	thanks              string
	total, more, look   string // words of the page, from here on
	verify, gift, leave string
	talk, reply         string
	nameOrID            string
	signOut, make       string
	saveRules, reported string
	coin, result, kept  string
	gone, proven        string
	noRooms, working    string
	keys, qr, asks      string
	makeDevice, profile string
	tiger, you          string
	comes, waits        string
	accepts, arrives    string
	emojis, faces       string
	search, wanted      string
	sender, date        string // filters of a search
	caption, document   string // of files
	forAll, allMedia    string
	second              string // of three pictures
	soup                string // a word of talkLines[3]
}

var english = language{
	me: "Clara", people: []string{"Lin Mei", "Tom Baker", "Ana Souza", "Omar Haddad", "Grandma"},
	room: "Sunday dinner", other: "Badminton Thursdays", private: "Flat 12B", public: "Neighbours",
	talkLines: []string{
		"Who brings dessert on Sunday?",
		"I do! Mango pudding, as promised 🥭",
		"My train is in at five, so please start without me.",
		"We wait for you. The soup needs three hours anyway.",
		"I come at two",
		"@Clara do you have enough chairs? I can bring four.",
	},
	otherLines: []string{"Court 3 from seven, who is in?", "Shall I pick you up on Saturday?", "The plumber comes on Tuesday.", "I am at home, no worry."},
	finished:   "For the cook", open: "Safe travels, everyone", locked: "What did we eat last year?", passphrase: "dumplings",
	thanks: "That was quick 😄 thank you!",
	total:  "Total", more: "More", look: "Look inside without opening", verify: "Verify", gift: "Play money to begin with", leave: "Leave this room",
	talk: "Message privately", reply: "Reply", nameOrID: "Name or id", signOut: "Sign out", make: "Make the room", saveRules: "Save rules", reported: "You reported somebody",
	coin: "Open", result: "Provably fair", kept: "in your wallet", gone: "left to open it", proven: "Every share follows from the secret",
	noRooms: "No rooms yet", working: "Limits, and other links", keys: "Switch to a room", qr: "QR code of the link", asks: "Ask before letting people in",
	makeDevice: "Make a link", profile: "Change name and picture", tiger: "Tiger", you: "You",
	comes: "Would like to come in", waits: "Waiting to be let in", accepts: "The owner or an admin lets you in", arrives: "Bring your account here",
	emojis: "Emojis", faces: "Faces and feelings", search: "Search messages", wanted: "Words to find", sender: "From", date: "Date",
	caption: "The view from the balcony, this morning and tonight", document: "House rules.pdf", forAll: "@all The heating is off on Monday.",
	allMedia: "That is all there is in this room.", second: "2 of 3", soup: "soup",
}

var chinese = language{
	me: "小雨", people: []string{"林梅", "阿杰", "王小明", "李叔", "外婆"},
	room: "年夜饭", other: "周四羽毛球", private: "合租三人组", public: "同城邻居",
	talkLines: []string{
		"今年年夜饭谁带甜品？",
		"我来！说好的杨枝甘露 🥭",
		"我的高铁五点才到，你们先吃，别等我。",
		"等你！汤反正要炖三个小时。",
		"我两点到",
		"@小雨 椅子够不够？我可以再带四把。",
	},
	otherLines: []string{"七点三号场，谁来？", "周六我去接你？", "周二师傅来修水管。", "我在家，放心。"},
	finished:   "大厨辛苦了，恭喜发财", open: "一路平安，团团圆圆", locked: "去年我们吃的什么？", passphrase: "饺子",
	thanks: "手速也太快了 😄 谢谢！",
	total:  "总金额", more: "更多", look: "先不开，看看大家的手气", verify: "验证", gift: "见面礼", leave: "退出群聊",
	talk: "发私信", reply: "回复", nameOrID: "名字或 ID", signOut: "退出登录", make: "创建群聊", saveRules: "保存群规", reported: "你举报了一个人",
	coin: "开", result: "公平可验证", kept: "已存入钱包", gone: "后过期", proven: "每一份都由种子算出",
	noRooms: "还没有群聊", working: "限制与其他链接", keys: "切换群聊", qr: "邀请链接的二维码", asks: "进群需要审批",
	makeDevice: "生成链接", profile: "修改名字和头像", tiger: "虎", you: "你",
	comes: "入群申请", waits: "等待通过", accepts: "需群主或管理员同意后才能进群", arrives: "把账号带到这里",
	emojis: "表情", faces: "笑脸和情感", search: "搜索聊天记录", wanted: "搜索内容", sender: "发送人", date: "日期",
	caption: "今天早上和晚上的阳台风景", document: "合租公约", forAll: "@所有人 周一停暖气。", allMedia: "这个群里的都在这儿了。", second: "第2张，共3张", soup: "汤",
}
