-- A state database of schema 1, as the version before branches left it when it was stopped while step Two was at work:
-- records 0 to 4 are step One, 5 to 7 step Two up to its answer.
CREATE TABLE events (
	seq INTEGER PRIMARY KEY AUTOINCREMENT, run TEXT NOT NULL, number INTEGER NOT NULL, time INTEGER NOT NULL,
	kind TEXT NOT NULL, body TEXT NOT NULL
);
INSERT INTO "events" VALUES(1,'20261121-095154-eb99j',0,1795254714442878,'run',CAST('{"type":"event","time":"2026-11-21T09:51:54.442878643Z","run":"20261121-095154-eb99j","subject":"w","kind":"run","status":"queued"}' AS BLOB));
INSERT INTO "events" VALUES(2,'20261121-095154-eb99j',0,1795254714448990,'run',CAST('{"type":"event","time":"2026-11-21T09:51:54.448990001Z","run":"20261121-095154-eb99j","subject":"w","kind":"run","status":"running"}' AS BLOB));
INSERT INTO "events" VALUES(3,'20261121-095154-eb99j',1,1795254714450814,'step',CAST('{"type":"event","time":"2026-11-21T09:51:54.450814416Z","run":"20261121-095154-eb99j","subject":"w","kind":"step","step":"One","status":"running","record":{"type":"step","run":"20261121-095154-eb99j","index":0,"step":"One","status":"running","usage":{"input_tokens":0,"output_tokens":0,"cost_usd":0}}}' AS BLOB));
INSERT INTO "events" VALUES(4,'20261121-095154-eb99j',2,1795254714474347,'step',CAST('{"type":"event","time":"2026-11-21T09:51:54.474347804Z","run":"20261121-095154-eb99j","subject":"w","kind":"step","step":"One","status":"done","record":{"type":"step","run":"20261121-095154-eb99j","index":0,"step":"One","status":"done","model":"m","answered_by":"m-1","usage":{"input_tokens":10,"output_tokens":0,"cost_usd":0.25},"prompt":"p","receipt":"r","answer":"answer of One","raw":"raw","inputs":["in.md"],"outputs":[{"kind":"file","name":"One.md","after":"answer of One"},{"kind":"variable","name":"v","after":"d"}]}}' AS BLOB));
INSERT INTO "events" VALUES(5,'20261121-095154-eb99j',3,1795254714478910,'step',CAST('{"type":"event","time":"2026-11-21T09:51:54.478910591Z","run":"20261121-095154-eb99j","subject":"w","kind":"step","step":"Two","status":"running","record":{"type":"step","run":"20261121-095154-eb99j","index":1,"step":"Two","status":"running","usage":{"input_tokens":0,"output_tokens":0,"cost_usd":0}}}' AS BLOB));
CREATE TABLE imports (
	id TEXT PRIMARY KEY, source TEXT NOT NULL, sha256 TEXT NOT NULL, key TEXT NOT NULL, state TEXT NOT NULL,
	created INTEGER NOT NULL, finished INTEGER NOT NULL DEFAULT 0, announced INTEGER NOT NULL DEFAULT 0, view TEXT NOT NULL
);
CREATE TABLE own_writes (
	workflow TEXT NOT NULL, name TEXT NOT NULL, sha256 TEXT NOT NULL, run TEXT NOT NULL, PRIMARY KEY (workflow, name, sha256)
);
CREATE TABLE pending (
	workflow TEXT NOT NULL, step TEXT NOT NULL, directive INTEGER NOT NULL, name TEXT NOT NULL, sha256 TEXT NOT NULL,
	run TEXT NOT NULL, PRIMARY KEY (workflow, step, directive, name)
);
CREATE TABLE records (
	run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE, seq INTEGER NOT NULL, step INTEGER NOT NULL,
	activity TEXT NOT NULL, in_digest TEXT NOT NULL, input TEXT NOT NULL, output TEXT, failure TEXT,
	attempts INTEGER NOT NULL, started INTEGER NOT NULL, finished INTEGER NOT NULL, PRIMARY KEY (run, seq)
);
INSERT INTO "records" VALUES('20261121-095154-eb99j',0,0,'resolve','2bf585bc009b16265da44747ec434b9fa505661653b26772e6c155ce32a8dd7a',CAST('{"run":"20261121-095154-eb99j","workflow":"w","plan":"9f8bae9f4c2886886473aa2861b2cdcea823a673d11d3d14c39e80dc6644437d","index":0,"step":"One","at":"2026-11-21T09:51:54.435174589Z","trigger":{"kind":"manual"}}' AS BLOB),CAST('{"inputs":[{"directive":0,"files":[{"name":"in.md","sha256":"s1","pending":true}]}]}' AS BLOB),NULL,1,1795254714457858,1795254714458036);
INSERT INTO "records" VALUES('20261121-095154-eb99j',1,0,'assemble','d8fed7357c56f7db4bf1db04174d333f74fe39c44b6a593702eb96390f3ed5c3',CAST('{"run":"20261121-095154-eb99j","workflow":"w","plan":"9f8bae9f4c2886886473aa2861b2cdcea823a673d11d3d14c39e80dc6644437d","index":0,"step":"One","at":"2026-11-21T09:51:54.435174589Z","inputs":[{"directive":0,"files":[{"name":"in.md","sha256":"s1","pending":true}]}]}' AS BLOB),CAST('{"prompt":"p","receipt":"r","model":"m"}' AS BLOB),NULL,1,1795254714463588,1795254714463689);
INSERT INTO "records" VALUES('20261121-095154-eb99j',2,0,'generate','b41941dc40d968083f57bc5b3338f5d9a4e9a82831fc2aab7d123a015be7910e',CAST('{"run":"20261121-095154-eb99j","workflow":"w","plan":"9f8bae9f4c2886886473aa2861b2cdcea823a673d11d3d14c39e80dc6644437d","index":0,"step":"One","at":"2026-11-21T09:51:54.435174589Z","prompt":"p","model":"m"}' AS BLOB),CAST('{"answer":"answer of One","raw":"raw","stop":"end","model":"m-1","usage":{"input_tokens":10,"output_tokens":0,"cost_usd":0.25}}' AS BLOB),NULL,1,1795254714466746,1795254714466828);
INSERT INTO "records" VALUES('20261121-095154-eb99j',3,0,'stage','fd92280e489b330876e106c1668213338e641320bf498503bc2d31ad339c399c',CAST('{"run":"20261121-095154-eb99j","workflow":"w","plan":"9f8bae9f4c2886886473aa2861b2cdcea823a673d11d3d14c39e80dc6644437d","index":0,"step":"One","at":"2026-11-21T09:51:54.435174589Z","answer":"answer of One","inputs":[{"directive":0,"files":[{"name":"in.md","sha256":"s1","pending":true}]}],"attempt":1}' AS BLOB),CAST('{"files":[{"name":"One.md","new":"answer of One","targets":["output:0"]}],"vars":[{"name":"v","digest":"d","target":"x"}]}' AS BLOB),NULL,1,1795254714471738,1795254714471894);
INSERT INTO "records" VALUES('20261121-095154-eb99j',4,0,'commit','5ec81d107239d85630ce3e4b8b97e0dbd4600c6ee5780a9e99bbd0e7a722d587',CAST('{"run":"20261121-095154-eb99j","workflow":"w","plan":"9f8bae9f4c2886886473aa2861b2cdcea823a673d11d3d14c39e80dc6644437d","index":0,"step":"One","at":"2026-11-21T09:51:54.435174589Z","files":[{"name":"One.md","new":"answer of One","targets":["output:0"]}],"marks":[{"directive":0,"name":"in.md","sha256":"s1"}]}' AS BLOB),CAST('{"written":[{"name":"One.md","new":"answer of One","targets":["output:0"]}]}' AS BLOB),NULL,1,1795254714473567,1795254714473634);
INSERT INTO "records" VALUES('20261121-095154-eb99j',5,1,'resolve','b54b1f0f73e9c0cc123886906df6b286795277ec43b5d15d5a1e8bea5af53864',CAST('{"run":"20261121-095154-eb99j","workflow":"w","plan":"9f8bae9f4c2886886473aa2861b2cdcea823a673d11d3d14c39e80dc6644437d","index":1,"step":"Two","at":"2026-11-21T09:51:54.435174589Z","vars":[{"name":"v","digest":"d"}],"trigger":{"kind":"manual"}}' AS BLOB),CAST('{"inputs":[{"directive":0,"files":[{"name":"in.md","sha256":"s1","pending":true}]}]}' AS BLOB),NULL,1,1795254714481990,1795254714482042);
INSERT INTO "records" VALUES('20261121-095154-eb99j',6,1,'assemble','19a454acaac7345f7f26e2c2e67e593c61070ef31bbb3b687500a2c97d84b614',CAST('{"run":"20261121-095154-eb99j","workflow":"w","plan":"9f8bae9f4c2886886473aa2861b2cdcea823a673d11d3d14c39e80dc6644437d","index":1,"step":"Two","at":"2026-11-21T09:51:54.435174589Z","inputs":[{"directive":0,"files":[{"name":"in.md","sha256":"s1","pending":true}]}],"vars":[{"name":"v","digest":"d"}]}' AS BLOB),CAST('{"prompt":"p","receipt":"r","model":"m"}' AS BLOB),NULL,1,1795254714484050,1795254714484102);
INSERT INTO "records" VALUES('20261121-095154-eb99j',7,1,'generate','43215ac7f257c2ab2382808ef657557bd127891aec1d5b887314431fcc358992',CAST('{"run":"20261121-095154-eb99j","workflow":"w","plan":"9f8bae9f4c2886886473aa2861b2cdcea823a673d11d3d14c39e80dc6644437d","index":1,"step":"Two","at":"2026-11-21T09:51:54.435174589Z","prompt":"p","model":"m"}' AS BLOB),CAST('{"answer":"answer of Two","raw":"raw","stop":"end","model":"m-1","usage":{"input_tokens":10,"output_tokens":0,"cost_usd":0.25}}' AS BLOB),NULL,1,1795254714485416,1795254714485445);
CREATE TABLE runs (
	id TEXT PRIMARY KEY, kind TEXT NOT NULL, workflow TEXT NOT NULL, status TEXT NOT NULL, trigger TEXT NOT NULL,
	key TEXT NOT NULL, generation INTEGER NOT NULL, lane TEXT NOT NULL, cancelled INTEGER NOT NULL DEFAULT 0,
	created INTEGER NOT NULL, finished INTEGER NOT NULL DEFAULT 0, view TEXT NOT NULL, spec TEXT NOT NULL,
	UNIQUE (key, generation)
);
INSERT INTO "runs" VALUES('20261121-095154-eb99j','workflow','w','running','manual','manual:20261121-095154-eb99j',0,'workflow:w',0,1795254714435174,0,CAST('{"type":"run","id":"20261121-095154-eb99j","kind":"workflow","workflow":"w","status":"running","reason":"","trigger":{"kind":"manual"},"key":"manual:20261121-095154-eb99j","at":"2026-11-21T09:51:54.435174589Z","created":"2026-11-21T09:51:54.435174589Z","started":"2026-11-21T09:51:54.448482346Z","plan":"9f8bae9f4c2886886473aa2861b2cdcea823a673d11d3d14c39e80dc6644437d","activity":"stage","steps":[{"type":"step","run":"20261121-095154-eb99j","index":0,"step":"One","status":"done","started":"2026-11-21T09:51:54.450814416Z","finished":"2026-11-21T09:51:54.474347804Z","model":"m","answered_by":"m-1","usage":{"input_tokens":10,"output_tokens":0,"cost_usd":0.25},"prompt":"p","receipt":"r","answer":"answer of One","raw":"raw","inputs":["in.md"],"outputs":[{"kind":"file","name":"One.md","after":"answer of One"},{"kind":"variable","name":"v","after":"d"}]},{"type":"step","run":"20261121-095154-eb99j","index":1,"step":"Two","status":"running","started":"2026-11-21T09:51:54.478910591Z","usage":{"input_tokens":0,"output_tokens":0,"cost_usd":0}}],"outputs":[{"kind":"file","name":"One.md","after":"answer of One"},{"kind":"variable","name":"v","after":"d"}],"usage":{"input_tokens":10,"output_tokens":0,"cost_usd":0.25}}' AS BLOB),CAST('{"pinned":{"run":"20261121-095154-eb99j","workflow":"w","plan":"9f8bae9f4c2886886473aa2861b2cdcea823a673d11d3d14c39e80dc6644437d","at":"2026-11-21T09:51:54.435174589Z","trigger":{"kind":"manual"},"steps":[{"name":"One","outputs":1},{"name":"Two","outputs":1}]}}' AS BLOB));
CREATE TABLE schedules (workflow TEXT PRIMARY KEY, spec TEXT NOT NULL, until INTEGER NOT NULL);
CREATE TABLE slots (
	workflow TEXT NOT NULL, slot INTEGER NOT NULL, schedule TEXT NOT NULL, state TEXT NOT NULL, reason TEXT NOT NULL,
	run TEXT NOT NULL, count INTEGER NOT NULL, zone TEXT NOT NULL, PRIMARY KEY (workflow, slot)
);
CREATE TABLE unpaused (workflow TEXT PRIMARY KEY, since INTEGER NOT NULL);
CREATE TABLE usage (
	run TEXT NOT NULL, seq INTEGER NOT NULL, workflow TEXT NOT NULL, step TEXT NOT NULL, time INTEGER NOT NULL,
	model TEXT NOT NULL, input INTEGER NOT NULL, output INTEGER NOT NULL, cached INTEGER NOT NULL,
	cache_write INTEGER NOT NULL, thinking INTEGER NOT NULL, cost REAL NOT NULL, cost_unknown INTEGER NOT NULL,
	PRIMARY KEY (run, seq, time)
);
INSERT INTO "usage" VALUES('20261121-095154-eb99j',2,'w','One',1795254714466828,'m',10,0,0,0,0,0.25,0);
INSERT INTO "usage" VALUES('20261121-095154-eb99j',7,'w','Two',1795254714485445,'m',10,0,0,0,0,0.25,0);
CREATE TABLE variables (
	workflow TEXT NOT NULL, name TEXT NOT NULL, digest TEXT NOT NULL, run TEXT NOT NULL, PRIMARY KEY (workflow, name)
);
CREATE INDEX runs_by_workflow ON runs (workflow, created);
CREATE INDEX runs_by_created ON runs (created);
CREATE INDEX runs_unfinished ON runs (created) WHERE finished = 0;
CREATE UNIQUE INDEX events_once ON events (run, number) WHERE number > 0;
CREATE INDEX events_by_run ON events (run, seq);
CREATE INDEX imports_by_created ON imports (created);
CREATE INDEX imports_by_content ON imports (sha256);
CREATE INDEX slots_by_time ON slots (slot);
CREATE INDEX usage_by_time ON usage (time);
PRAGMA user_version = 1;
