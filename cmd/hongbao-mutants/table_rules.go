package main

// ruleMutants are faults in the rules of texts.
var ruleMutants = []mutant{
	{
		file:  "chat/rules/words.go",
		old:   `m.nodes[child.from].shown = m.nodes[fail].shown`,
		new:   `m.nodes[child.from].shown = 0`,
		tests: "-run=^FuzzWords ./chat/rules",
		harm:  "a word inside a longer one is not found",
	},
	{
		file:  "chat/order.go",
		old:   `if err != nil || !st.In {`,
		new:   `if err != nil {`,
		tests: "-run=^TestRulesOfTheInstallation ./chat",
		harm:  "a stranger learns from a rule that there is a room",
	},
	{
		file:  "chat/order.go",
		old:   `s.store.DropHeld(ctx, room, id, false)`,
		new:   `s.store.DropHeld(ctx, room, id, true)`,
		tests: "-run=^(TestHeldTexts|TestAnswersOfTwoAdmins) ./chat",
		harm:  "a text that was admitted is dropped",
	},
	{
		file: "chat/messages.go",
		old: `	err = s.unlessKeyUsed(ctx, from.ID, m.Key, err)
	if against`,
		new:   `	if against`,
		tests: "-run=^TestHeldTexts ./chat",
		harm:  "a text that was admitted is held again when its author repeats the request",
	},
}
