BEGIN TRANSACTION;
CREATE TABLE dawa_ledger (
	version INTEGER NOT NULL
);
INSERT INTO "dawa_ledger" VALUES(1);
CREATE TABLE dawa_ledger_entries (
	number INTEGER NOT NULL, 
	kind TEXT NOT NULL, 
	dataset TEXT NOT NULL, 
	at TEXT NOT NULL, 
	who TEXT NOT NULL, 
	epsilon TEXT, 
	cap TEXT, 
	mechanism TEXT, 
	what TEXT, 
	reservation INTEGER, 
	release_id TEXT, 
	file TEXT, 
	previous TEXT NOT NULL, 
	hash TEXT NOT NULL, 
	PRIMARY KEY (number), 
	UNIQUE (previous)
);
INSERT INTO "dawa_ledger_entries" VALUES(1,'create','hr','2026-11-16T08:06:31.847+00:00','ada',NULL,'3',NULL,NULL,NULL,NULL,NULL,'0000000000000000000000000000000000000000000000000000000000000000','c6aa6757885101baa243b23b039ab01f8658c1f43219efe66cd02c1ece04a0d7');
INSERT INTO "dawa_ledger_entries" VALUES(2,'create','rows','2026-11-16T08:06:31.863+00:00','ada',NULL,'1/2',NULL,NULL,NULL,NULL,NULL,'c6aa6757885101baa243b23b039ab01f8658c1f43219efe66cd02c1ece04a0d7','034fd29f96a06618b2c132f4bffcc7825298ec23824703b4ac0eb2485b4681ea');
INSERT INTO "dawa_ledger_entries" VALUES(3,'create','mixed','2026-11-16T08:06:31.866+00:00','ada',NULL,'2',NULL,NULL,NULL,NULL,NULL,'034fd29f96a06618b2c132f4bffcc7825298ec23824703b4ac0eb2485b4681ea','e33c2cf60c60d9af9ad27c520ab4b29f28142cb099787075da0b0f84304d79f8');
INSERT INTO "dawa_ledger_entries" VALUES(4,'create','Sales','2026-11-16T08:06:31.869+00:00','ada',NULL,'1',NULL,NULL,NULL,NULL,NULL,'e33c2cf60c60d9af9ad27c520ab4b29f28142cb099787075da0b0f84304d79f8','5a1b1a7c774478af4bd1c3b2375b00af0bac19043c6a279fc58b13841da8a913');
INSERT INTO "dawa_ledger_entries" VALUES(5,'create','sales','2026-11-16T08:06:31.874+00:00','ada',NULL,'2',NULL,NULL,NULL,NULL,NULL,'5a1b1a7c774478af4bd1c3b2375b00af0bac19043c6a279fc58b13841da8a913','94d20595fbdb09faa263758169c98330ab863ea96e3e4e5b8fbc4b7536e2862c');
INSERT INTO "dawa_ledger_entries" VALUES(6,'create','new','2026-11-16T08:06:31.877+00:00','ada',NULL,'1',NULL,NULL,NULL,NULL,NULL,'94d20595fbdb09faa263758169c98330ab863ea96e3e4e5b8fbc4b7536e2862c','4bac9c4d75b0bfe2c2403ce7037445a7eb7c00c07772c6afa40d66b1972f1f5b');
INSERT INTO "dawa_ledger_entries" VALUES(7,'create','notes','2026-11-16T08:06:31.880+00:00','ada',NULL,'1',NULL,NULL,NULL,NULL,NULL,'4bac9c4d75b0bfe2c2403ce7037445a7eb7c00c07772c6afa40d66b1972f1f5b','522905e282e3a13bfe491850135af3e6af30682ed14dc3dcb9885b7f1d7cebb5');
INSERT INTO "dawa_ledger_entries" VALUES(8,'reserve','hr','2026-11-16T08:06:43.306+00:00','ada','1/2',NULL,'dawa','{"axes":[{"column":"age","kind":"numbers","outside":"clip","start":"0","step":"1","stop":"100"}],"max_rows_per_unit":2,"options":{},"unit":"person"}',NULL,NULL,NULL,'522905e282e3a13bfe491850135af3e6af30682ed14dc3dcb9885b7f1d7cebb5','59feba4467b1e86b120c6e9a2c2ad9196ce3e9e14ce56aaf597f3c2daa5e9854');
INSERT INTO "dawa_ledger_entries" VALUES(9,'finalise','hr','2026-11-16T08:06:43.339+00:00','ada',NULL,NULL,NULL,NULL,8,'2064f48848d14250b4f6605e09535f8d',NULL,'59feba4467b1e86b120c6e9a2c2ad9196ce3e9e14ce56aaf597f3c2daa5e9854','d75cfbbaac536caf7105795e73467d797aa14225e168ad419a0df3a317710eca');
INSERT INTO "dawa_ledger_entries" VALUES(10,'reserve','hr','2026-11-16T08:06:43.386+00:00','ada','1/2',NULL,'dawa','{"axes":[{"column":"income","kind":"numbers","outside":"clip","start":"0","step":"1","stop":"100"}],"max_rows_per_unit":3,"options":{},"unit":"person"}',NULL,NULL,NULL,'d75cfbbaac536caf7105795e73467d797aa14225e168ad419a0df3a317710eca','97b0e6d2961c36c308f91502ce3e09c7d89863bf290142765e1932cd60d36a47');
INSERT INTO "dawa_ledger_entries" VALUES(11,'finalise','hr','2026-11-16T08:06:43.412+00:00','ada',NULL,NULL,NULL,NULL,10,'dbc972572d0a4842a46d8e449cd86bd3',NULL,'97b0e6d2961c36c308f91502ce3e09c7d89863bf290142765e1932cd60d36a47','f464bda31a1b96ddc77ddf3a4358536c9f74ef53365e6ff0c2bc6c74c6ac00a6');
INSERT INTO "dawa_ledger_entries" VALUES(12,'reserve','rows','2026-11-16T08:06:43.446+00:00','ada','1/10',NULL,'dawa','{"axes":[{"column":"age","kind":"numbers","outside":"clip","start":"0","step":"1","stop":"100"}],"max_rows_per_unit":1,"options":{},"unit":null}',NULL,NULL,NULL,'f464bda31a1b96ddc77ddf3a4358536c9f74ef53365e6ff0c2bc6c74c6ac00a6','36af130c34a2097017e7b3c58d62f1c90d7dad1d7c0935e441c6254af8ca5067');
INSERT INTO "dawa_ledger_entries" VALUES(13,'finalise','rows','2026-11-16T08:06:43.464+00:00','ada',NULL,NULL,NULL,NULL,12,'d9668c943d1d4f98a4a214b08624e762',NULL,'36af130c34a2097017e7b3c58d62f1c90d7dad1d7c0935e441c6254af8ca5067','ef5b4f33525f6fbd1ea395921ade61ee7349d57890e58cc5d825a7c30e0a948d');
INSERT INTO "dawa_ledger_entries" VALUES(14,'reserve','mixed','2026-11-16T08:06:43.499+00:00','ada','1/10',NULL,'dawa','{"axes":[{"column":"age","kind":"numbers","outside":"clip","start":"0","step":"1","stop":"100"}],"max_rows_per_unit":1,"options":{},"unit":null}',NULL,NULL,NULL,'ef5b4f33525f6fbd1ea395921ade61ee7349d57890e58cc5d825a7c30e0a948d','f273a7b8e637596337fecd61db7694f9d49de42a3f71c7bf4b381320e1fc2472');
INSERT INTO "dawa_ledger_entries" VALUES(15,'finalise','mixed','2026-11-16T08:06:43.519+00:00','ada',NULL,NULL,NULL,NULL,14,'dec73597befd492187c8ab50e7e4ace7',NULL,'f273a7b8e637596337fecd61db7694f9d49de42a3f71c7bf4b381320e1fc2472','6fb69073134291465c3542e70e94953a24735fc486713f157e8c7dcbaf1ca9b3');
INSERT INTO "dawa_ledger_entries" VALUES(16,'reserve','mixed','2026-11-16T08:06:43.559+00:00','ada','1/5',NULL,'dawa','{"axes":[{"column":"age","kind":"numbers","outside":"clip","start":"0","step":"1","stop":"100"}],"max_rows_per_unit":3,"options":{},"unit":"person"}',NULL,NULL,NULL,'6fb69073134291465c3542e70e94953a24735fc486713f157e8c7dcbaf1ca9b3','54d993d9721ae6fb8b574fd6f65eafafb7503a35323e5af02f6710d8b9875110');
INSERT INTO "dawa_ledger_entries" VALUES(17,'finalise','mixed','2026-11-16T08:06:43.592+00:00','ada',NULL,NULL,NULL,NULL,16,'141090e90a5349e98fb1a5fd1aaee78d',NULL,'54d993d9721ae6fb8b574fd6f65eafafb7503a35323e5af02f6710d8b9875110','904ece9f70dbfe8c638f2fa0e9afa667512aad2d570b0f8e8af7ca5a175a9524');
INSERT INTO "dawa_ledger_entries" VALUES(18,'reserve','mixed','2026-11-16T08:06:43.598+00:00','ada','1/4',NULL,'made elsewhere','{"note":"Table 3 of the yearly report"}',NULL,NULL,NULL,'904ece9f70dbfe8c638f2fa0e9afa667512aad2d570b0f8e8af7ca5a175a9524','3d0d619a0baf0024f927b074f2b3461ccb60ff2a40bf4dd115e7fc16f19432ed');
INSERT INTO "dawa_ledger_entries" VALUES(19,'finalise','mixed','2026-11-16T08:06:43.603+00:00','ada',NULL,NULL,NULL,NULL,18,'table-3',NULL,'3d0d619a0baf0024f927b074f2b3461ccb60ff2a40bf4dd115e7fc16f19432ed','70878a9ccefa4eedcf5afb8361d3a8cb176763b6f98ce0779c820f07a1615e8c');
INSERT INTO "dawa_ledger_entries" VALUES(20,'reserve','Sales','2026-11-16T08:06:43.655+00:00','ada','1/7',NULL,'dawa','{"axes":[{"column":"age","kind":"numbers","outside":"clip","start":"0","step":"1","stop":"100"}],"max_rows_per_unit":1,"options":{},"unit":null}',NULL,NULL,NULL,'70878a9ccefa4eedcf5afb8361d3a8cb176763b6f98ce0779c820f07a1615e8c','9e3c98e3bda4d3eacdbb2e39bf288d77280d8f7136912c50f81bab404be48e49');
INSERT INTO "dawa_ledger_entries" VALUES(21,'finalise','Sales','2026-11-16T08:06:43.681+00:00','ada',NULL,NULL,NULL,NULL,20,'8ed0c1f6a3124d1f81225457523454f8',NULL,'9e3c98e3bda4d3eacdbb2e39bf288d77280d8f7136912c50f81bab404be48e49','424b7c4f3cfca0ad0e0ee4b35105639bd116cb2344c6c0494068aaf471914c6f');
INSERT INTO "dawa_ledger_entries" VALUES(22,'reserve','sales','2026-11-16T08:06:43.721+00:00','ada','1/3',NULL,'dawa','{"axes":[{"column":"age","kind":"numbers","outside":"clip","start":"0","step":"1","stop":"100"}],"max_rows_per_unit":1,"options":{},"unit":"person"}',NULL,NULL,NULL,'424b7c4f3cfca0ad0e0ee4b35105639bd116cb2344c6c0494068aaf471914c6f','7db888277493875f2d0f1d7f60fcd020ccb4790fe37563cab603120f813997f4');
INSERT INTO "dawa_ledger_entries" VALUES(23,'finalise','sales','2026-11-16T08:06:43.756+00:00','ada',NULL,NULL,NULL,NULL,22,'8493e55975e64c6a8dd325b0fe5ca2ac',NULL,'7db888277493875f2d0f1d7f60fcd020ccb4790fe37563cab603120f813997f4','fabb19fc5ea7823f093fb07807ca4070be22ae7d7b8ce1f5181ac4d11399e3ea');
INSERT INTO "dawa_ledger_entries" VALUES(24,'reserve','notes','2026-11-16T08:06:43.762+00:00','ada','1/4',NULL,'made elsewhere','{"for":"the board","note":"Table 4"}',NULL,NULL,NULL,'fabb19fc5ea7823f093fb07807ca4070be22ae7d7b8ce1f5181ac4d11399e3ea','75595773a26c1553162b241184d9ddbebb9d99006bb85b5e13322f24f94e99af');
INSERT INTO "dawa_ledger_entries" VALUES(25,'finalise','notes','2026-11-16T08:06:43.767+00:00','ada',NULL,NULL,NULL,NULL,24,'table-4',NULL,'75595773a26c1553162b241184d9ddbebb9d99006bb85b5e13322f24f94e99af','c44106f7591fbd24c81289348a80de25255d3421146e30d75f880926a23723d7');
INSERT INTO "dawa_ledger_entries" VALUES(26,'reserve','rows','2026-11-16T08:06:43.771+00:00','ada','1/8',NULL,'dawa','{"axes":[{"column":"age","kind":"numbers","outside":"clip","start":"0","step":"1","stop":"100"}],"max_rows_per_unit":1,"options":{},"unit":null}',NULL,NULL,NULL,'c44106f7591fbd24c81289348a80de25255d3421146e30d75f880926a23723d7','9ae12c375d82a67fde92c82699c4de0d5e1dc207ae2d35b219a6f5ec630a2c6e');
CREATE TRIGGER dawa_ledger_update BEFORE UPDATE ON dawa_ledger BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER dawa_ledger_delete BEFORE DELETE ON dawa_ledger BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER dawa_ledger_entries_update BEFORE UPDATE ON dawa_ledger_entries BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER dawa_ledger_entries_delete BEFORE DELETE ON dawa_ledger_entries BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER dawa_ledger_entries_replace BEFORE INSERT ON dawa_ledger_entries WHEN EXISTS (SELECT 1 FROM dawa_ledger_entries WHERE number = NEW.number OR previous = NEW.previous) BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
COMMIT;
