BEGIN TRANSACTION;
CREATE TABLE dawa_ledger (
	version INTEGER NOT NULL
);
INSERT INTO "dawa_ledger" VALUES(1);
INSERT INTO "dawa_ledger" VALUES(2);
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
INSERT INTO "dawa_ledger_entries" VALUES(1,'create','hr','2026-11-16T08:06:43.779+00:00','ada',NULL,'3',NULL,NULL,NULL,NULL,NULL,'0000000000000000000000000000000000000000000000000000000000000000','5ce3beb4bd76e29588e614eee7dc0c0697cd46b12fc69d1414fc2ab6d6ac53b0');
INSERT INTO "dawa_ledger_entries" VALUES(2,'create','rows','2026-11-16T08:06:43.792+00:00','ada',NULL,'1/2',NULL,NULL,NULL,NULL,NULL,'5ce3beb4bd76e29588e614eee7dc0c0697cd46b12fc69d1414fc2ab6d6ac53b0','49a0448704799c7d49424e9e576bf9e677518d37388e6f697da2684f6557a454');
INSERT INTO "dawa_ledger_entries" VALUES(3,'create','mixed','2026-11-16T08:06:43.798+00:00','ada',NULL,'2',NULL,NULL,NULL,NULL,NULL,'49a0448704799c7d49424e9e576bf9e677518d37388e6f697da2684f6557a454','e5d8f8bf727ee631e15a279b671ff804d1566ef9e2a5b9f99cd6b293bce573c9');
INSERT INTO "dawa_ledger_entries" VALUES(4,'create','Sales','2026-11-16T08:06:43.804+00:00','ada',NULL,'1',NULL,NULL,NULL,NULL,NULL,'e5d8f8bf727ee631e15a279b671ff804d1566ef9e2a5b9f99cd6b293bce573c9','02972897083552c87786b99e2aef0302aa9f956b64d0df14eb496beb4f04d161');
INSERT INTO "dawa_ledger_entries" VALUES(5,'create','sales','2026-11-16T08:06:43.809+00:00','ada',NULL,'2',NULL,NULL,NULL,NULL,NULL,'02972897083552c87786b99e2aef0302aa9f956b64d0df14eb496beb4f04d161','cbbb4dbf82bb5639f7754a62d68c0355bd760c3ed6f3ceb5d59f902d1580b100');
INSERT INTO "dawa_ledger_entries" VALUES(6,'create','new','2026-11-16T08:06:43.815+00:00','ada',NULL,'1',NULL,NULL,NULL,NULL,NULL,'cbbb4dbf82bb5639f7754a62d68c0355bd760c3ed6f3ceb5d59f902d1580b100','a463e302f21aa04c94c458ee3227771c183564a4c08766fa89ef8efbf31dc614');
INSERT INTO "dawa_ledger_entries" VALUES(7,'create','notes','2026-11-16T08:06:43.820+00:00','ada',NULL,'1',NULL,NULL,NULL,NULL,NULL,'a463e302f21aa04c94c458ee3227771c183564a4c08766fa89ef8efbf31dc614','28631ed187bcef0173893076d99b2fa877bb6ae42defc6f8dd26ef96774cae28');
INSERT INTO "dawa_ledger_entries" VALUES(8,'reserve','hr','2026-11-16T08:06:43.868+00:00','ada','1/2',NULL,'dawa','{"axes":[{"column":"age","kind":"numbers","outside":"clip","start":"0","step":"1","stop":"100"}],"max_rows_per_unit":2,"options":{},"unit":"person"}',NULL,NULL,NULL,'28631ed187bcef0173893076d99b2fa877bb6ae42defc6f8dd26ef96774cae28','3c4898aac87a43a24d11fb5a091fd93dbf646c8ecdc59ab810fc7d0d66c996f5');
INSERT INTO "dawa_ledger_entries" VALUES(9,'finalise','hr','2026-11-16T08:06:43.895+00:00','ada',NULL,NULL,NULL,NULL,8,'2633f4c64b4a472b90adca73448fa793',NULL,'3c4898aac87a43a24d11fb5a091fd93dbf646c8ecdc59ab810fc7d0d66c996f5','f0ac0e278c3b130e0cd2f113224165b1b2da643b2fe4c99421bb5c500c8a8e7a');
INSERT INTO "dawa_ledger_entries" VALUES(10,'reserve','hr','2026-11-16T08:06:43.951+00:00','ada','1/2',NULL,'dawa','{"axes":[{"column":"income","kind":"numbers","outside":"clip","start":"0","step":"1","stop":"100"}],"max_rows_per_unit":3,"options":{},"unit":"person"}',NULL,NULL,NULL,'f0ac0e278c3b130e0cd2f113224165b1b2da643b2fe4c99421bb5c500c8a8e7a','55a58acf05befa10b490c33cc2b7bd341f41dd9f737e78797f6e7b0ec66cece1');
INSERT INTO "dawa_ledger_entries" VALUES(11,'finalise','hr','2026-11-16T08:06:43.987+00:00','ada',NULL,NULL,NULL,NULL,10,'d0fe89e2d6ae429daf3714d3d517d2d3',NULL,'55a58acf05befa10b490c33cc2b7bd341f41dd9f737e78797f6e7b0ec66cece1','2387be5dbe5f8e37731cc2580bd4d98290b218858be556c7506faf674467bfd1');
INSERT INTO "dawa_ledger_entries" VALUES(12,'reserve','rows','2026-11-16T08:06:44.027+00:00','ada','1/10',NULL,'dawa','{"axes":[{"column":"age","kind":"numbers","outside":"clip","start":"0","step":"1","stop":"100"}],"max_rows_per_unit":1,"options":{},"unit":null}',NULL,NULL,NULL,'2387be5dbe5f8e37731cc2580bd4d98290b218858be556c7506faf674467bfd1','3a5c0d2e1664de642faaa46233115a53a1ccaa22cab07f9f957bdb5bf613abdb');
INSERT INTO "dawa_ledger_entries" VALUES(13,'finalise','rows','2026-11-16T08:06:44.055+00:00','ada',NULL,NULL,NULL,NULL,12,'c9d0878a71a7414b9b40338a598742ca',NULL,'3a5c0d2e1664de642faaa46233115a53a1ccaa22cab07f9f957bdb5bf613abdb','5400cfdf00f5b0aaefcf3d66308a8b2442a553414463bce29cdaeb078bfce5f7');
INSERT INTO "dawa_ledger_entries" VALUES(14,'reserve','mixed','2026-11-16T08:06:44.090+00:00','ada','1/10',NULL,'dawa','{"axes":[{"column":"age","kind":"numbers","outside":"clip","start":"0","step":"1","stop":"100"}],"max_rows_per_unit":1,"options":{},"unit":null}',NULL,NULL,NULL,'5400cfdf00f5b0aaefcf3d66308a8b2442a553414463bce29cdaeb078bfce5f7','2968de4318b332045a6bc9a39c47c192e20a1a21808f38fb3fd9aa8bf4eabbc5');
INSERT INTO "dawa_ledger_entries" VALUES(15,'finalise','mixed','2026-11-16T08:06:44.115+00:00','ada',NULL,NULL,NULL,NULL,14,'0acb112061cb450c81bc3bbb4e225357',NULL,'2968de4318b332045a6bc9a39c47c192e20a1a21808f38fb3fd9aa8bf4eabbc5','7f6fbf12c8b0a5b6cdacbc7365fba45b7d1aca5853e65452d1e272c6b9bf7239');
INSERT INTO "dawa_ledger_entries" VALUES(16,'reserve','mixed','2026-11-16T08:06:44.154+00:00','ada','1/5',NULL,'dawa','{"axes":[{"column":"age","kind":"numbers","outside":"clip","start":"0","step":"1","stop":"100"}],"max_rows_per_unit":3,"options":{},"unit":"person"}',NULL,NULL,NULL,'7f6fbf12c8b0a5b6cdacbc7365fba45b7d1aca5853e65452d1e272c6b9bf7239','874b6a6199dd8080933e84f745cd7187e732424b2be592bb2da956dc72d24661');
INSERT INTO "dawa_ledger_entries" VALUES(17,'finalise','mixed','2026-11-16T08:06:44.189+00:00','ada',NULL,NULL,NULL,NULL,16,'7d4bdd563e0b403dbc23df72ffc5e174',NULL,'874b6a6199dd8080933e84f745cd7187e732424b2be592bb2da956dc72d24661','64f2c4820d6c739ce41ea620390a4a2fb156fd7ef6d4c9db4ba63da44ca938a0');
INSERT INTO "dawa_ledger_entries" VALUES(18,'reserve','mixed','2026-11-16T08:06:44.193+00:00','ada','1/4',NULL,'made elsewhere','{"note":"Table 3 of the yearly report"}',NULL,NULL,NULL,'64f2c4820d6c739ce41ea620390a4a2fb156fd7ef6d4c9db4ba63da44ca938a0','e38f6a29eb6b1de48cec2d901300114a808de4c3e79aaa53581ce358bc307839');
INSERT INTO "dawa_ledger_entries" VALUES(19,'finalise','mixed','2026-11-16T08:06:44.196+00:00','ada',NULL,NULL,NULL,NULL,18,'table-3',NULL,'e38f6a29eb6b1de48cec2d901300114a808de4c3e79aaa53581ce358bc307839','891c616bb774b4ae5f8bb0ebe135e5426495fd03bbf12ab5a431c2de8fce8eff');
INSERT INTO "dawa_ledger_entries" VALUES(20,'reserve','Sales','2026-11-16T08:06:44.231+00:00','ada','1/7',NULL,'dawa','{"axes":[{"column":"age","kind":"numbers","outside":"clip","start":"0","step":"1","stop":"100"}],"max_rows_per_unit":1,"options":{},"unit":null}',NULL,NULL,NULL,'891c616bb774b4ae5f8bb0ebe135e5426495fd03bbf12ab5a431c2de8fce8eff','c4dc5b2b8fac54f518f83efc672b186fa02e92c05d4fa1c81b4679baacfb9bb6');
INSERT INTO "dawa_ledger_entries" VALUES(21,'finalise','Sales','2026-11-16T08:06:44.257+00:00','ada',NULL,NULL,NULL,NULL,20,'612579b33c644f05b9efd6bd6d13fd5a',NULL,'c4dc5b2b8fac54f518f83efc672b186fa02e92c05d4fa1c81b4679baacfb9bb6','a65ec87444881e7340ec6d4a07ca9d67d4548e4a890738ea6a52e4b2c28cf2bc');
INSERT INTO "dawa_ledger_entries" VALUES(22,'reserve','sales','2026-11-16T08:06:44.297+00:00','ada','1/3',NULL,'dawa','{"axes":[{"column":"age","kind":"numbers","outside":"clip","start":"0","step":"1","stop":"100"}],"max_rows_per_unit":1,"options":{},"unit":"person"}',NULL,NULL,NULL,'a65ec87444881e7340ec6d4a07ca9d67d4548e4a890738ea6a52e4b2c28cf2bc','6ae3e2ea54e3cf7ce04b5c85ade2bcfbdcde56a6b1ccf711055b57af40070001');
INSERT INTO "dawa_ledger_entries" VALUES(23,'finalise','sales','2026-11-16T08:06:44.321+00:00','ada',NULL,NULL,NULL,NULL,22,'7612eadbf4da4e408d71b0f1cef45c29',NULL,'6ae3e2ea54e3cf7ce04b5c85ade2bcfbdcde56a6b1ccf711055b57af40070001','db0f8681ddf712e877f4c0e6f1cdbafb395f5ed3b670557e2fb09a47f89cb281');
INSERT INTO "dawa_ledger_entries" VALUES(24,'reserve','notes','2026-11-16T08:06:44.325+00:00','ada','1/4',NULL,'made elsewhere','{"for":"the board","note":"Table 4"}',NULL,NULL,NULL,'db0f8681ddf712e877f4c0e6f1cdbafb395f5ed3b670557e2fb09a47f89cb281','7bfe06dca89b78258d2cfb1c17b6b1893ac5dce8d29333f5a7dfb51b5f6ddcbd');
INSERT INTO "dawa_ledger_entries" VALUES(25,'finalise','notes','2026-11-16T08:06:44.328+00:00','ada',NULL,NULL,NULL,NULL,24,'table-4',NULL,'7bfe06dca89b78258d2cfb1c17b6b1893ac5dce8d29333f5a7dfb51b5f6ddcbd','db3c37d97a72b6039a57bc254542a303c004fccb3e570e51593e179e33a83889');
INSERT INTO "dawa_ledger_entries" VALUES(26,'reserve','rows','2026-11-16T08:06:44.331+00:00','ada','1/8',NULL,'dawa','{"axes":[{"column":"age","kind":"numbers","outside":"clip","start":"0","step":"1","stop":"100"}],"max_rows_per_unit":1,"options":{},"unit":null}',NULL,NULL,NULL,'db3c37d97a72b6039a57bc254542a303c004fccb3e570e51593e179e33a83889','253704f8c1adc13cc2c322ddb42a137a48c97a9728184eff2a3f1dbf408e1bea');
INSERT INTO "dawa_ledger_entries" VALUES(27,'reserve','hr','2026-11-16T08:06:44.334+00:00','ada','1/9',NULL,'dawa','{"axes":[{"column":"age","kind":"numbers","outside":"clip","start":"0","step":"1","stop":"100"}],"unit":null}',NULL,NULL,NULL,'253704f8c1adc13cc2c322ddb42a137a48c97a9728184eff2a3f1dbf408e1bea','68050df0a29b95598fa341560769ec5c54065a6a496324ffdfefeb2401d16475');
INSERT INTO "dawa_ledger_entries" VALUES(28,'take-back','hr','2026-11-16T08:06:44.338+00:00','ada',NULL,NULL,NULL,'{"why":"The server was down"}',27,NULL,NULL,'68050df0a29b95598fa341560769ec5c54065a6a496324ffdfefeb2401d16475','87ff3bd48aeccad163a468a7db8026ab40e210af22540bfda42c4bd4f61add85');
INSERT INTO "dawa_ledger_entries" VALUES(29,'raise','hr','2026-11-16T08:06:44.340+00:00','ada',NULL,'4',NULL,'{"why":"Board, 12 May"}',NULL,NULL,NULL,'87ff3bd48aeccad163a468a7db8026ab40e210af22540bfda42c4bd4f61add85','9c2e23e1e3bf27b7f7ecf1918325697dd04ff12b912f2aa307f25152a149e7a3');
CREATE TRIGGER dawa_ledger_update BEFORE UPDATE ON dawa_ledger BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER dawa_ledger_delete BEFORE DELETE ON dawa_ledger BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER dawa_ledger_entries_update BEFORE UPDATE ON dawa_ledger_entries BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER dawa_ledger_entries_delete BEFORE DELETE ON dawa_ledger_entries BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER dawa_ledger_entries_replace BEFORE INSERT ON dawa_ledger_entries WHEN EXISTS (SELECT 1 FROM dawa_ledger_entries WHERE number = NEW.number OR previous = NEW.previous) BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
COMMIT;
